-- Runs a session's loop: single-row updates at random in its own key range, each committed in the mode of the
-- setting.
declare
  began timestamp with time zone := systimestamp;
  lasted interval day(3) to second(6);
  state number := :seed;
  spun number := 0;
  done number := 0;
  missed number := 0;
begin
  while (:quota = 0 and systimestamp < began + numtodsinterval(:seconds, 'SECOND')) or done < :quota loop
    for turn in 1 .. :turns loop
      spun := mod(spun * 16807 + turn, 2147483647);
    end loop;
    state := mod(state * 16807, 2147483647);
    update redolab_account
    set value = value + 1
    where id = :first_id + mod(state, :row_count);
    missed := missed + 1 - sql%rowcount;
    commit write {mode};
    done := done + 1;
  end loop;
  lasted := systimestamp - began;
  :commits := done;
  :changed := done - missed;
  :failed := missed + 0 * spun;
  :elapsed_s := 86400 * extract(day from lasted) + 3600 * extract(hour from lasted)
    + 60 * extract(minute from lasted) + extract(second from lasted);
end;
