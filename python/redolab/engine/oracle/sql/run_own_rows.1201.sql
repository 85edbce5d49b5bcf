-- Runs a session's loop: updates of the one row of its own table, each committed in the mode of the setting.
declare
  began timestamp with time zone := systimestamp;
  lasted interval day(3) to second(6);
  done number := 0;
  missed number := 0;
begin
  while (:quota = 0 and systimestamp < began + numtodsinterval(:seconds, 'SECOND')) or done < :quota loop
    update redolab_own_{number}
    set value = value + 1;
    missed := missed + 1 - sql%rowcount;
    commit write {mode};
    done := done + 1;
  end loop;
  lasted := systimestamp - began;
  :commits := done;
  :changed := done - missed;
  :failed := missed;
  :elapsed_s := 86400 * extract(day from lasted) + 3600 * extract(hour from lasted)
    + 60 * extract(minute from lasted) + extract(second from lasted);
end;
