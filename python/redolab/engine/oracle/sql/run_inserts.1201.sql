-- Runs a session's loop: so many inserts before each commit, which is in the mode of the setting.
declare
  began timestamp with time zone := systimestamp;
  lasted interval day(3) to second(6);
  filler varchar2(1000) := rpad('x', :padding_bytes, 'x');
  done number := 0;
  committed number := 0;
begin
  while (:quota = 0 and systimestamp < began + numtodsinterval(:seconds, 'SECOND')) or done < :quota loop
    for place in 1 .. :row_count loop
      insert into redolab_item (session_no, id, padding)
      values (:session_no, done + place, filler);
    end loop;
    commit write {mode};
    committed := committed + 1;
    done := done + :row_count;
  end loop;
  lasted := systimestamp - began;
  :commits := committed;
  :changed := done;
  :failed := 0;
  :elapsed_s := 86400 * extract(day from lasted) + 3600 * extract(hour from lasted)
    + 60 * extract(minute from lasted) + extract(second from lasted);
end;
