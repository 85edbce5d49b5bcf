-- Operators and functions, each with what is hard about it.
\set a 1 + 2 * 3 - 4 / 5 % 3
\set b -(2 + 3) * -4
\set c ~ 1 + 2
\set d 7 & 3 | 8 # 5
\set e 1 << 3 + 1
\set f -17 % 5
\set g -17 / 5
\set h 17.0 / 5
\set i -9223372036854775808
\set j 1e3 + .5
\set k 2.5e-7
SELECT :a, :b, :c, :d, :e, :f, :g, :h, :i, :j, :k;
\set a not true and false or 1 < 2
\set b not 1 = 2
\set c null is null
\set d 1 is not null and true is true
\set e 1 isnull
\set f 1 notnull
\set g null or true
\set h null and false
\set i null and true
\set j case when 1 > 2 then 10 when 2 >= 2 then 20 else 30 end
\set k case when false then 1 end
\set l 1 <> 2
\set m 1 != 1
\set n 1.0 = 1
SELECT :a, :b, :c, :d, :e, :f, :g, :h, :i, :j, :k, :l, :m, :n;
\set a abs(-7) + ABS(-7.5)
\set b int(2.5) + int(3.5) + int(-2.5)
\set c double(3)
\set d exp(1) * ln(10) + sqrt(2)
\set e greatest(1, 2, 3) + least(4, 5.5, 6)
\set f mod(-17, 5)
\set g pi()
\set h pow(2, 10) + power(2.0, 0.5)
\set i 1.0 / 3
\set j 1e15 * 10
\set k 123456789.123456789
\set l 100000000000000.5
\set m pow(10, 300) * pow(10, 300)
\set n int(12345678901.6) + least(:m, 1)
\set o greatest(null, 1)
SELECT :a, :b, :c, :d, :e, :f, :g, :h, :i, :j, :k, :l, ':m', :n, :o;
\set a hash(7, 3)
\set b hash_fnv1a(7, 3)
\set c hash_murmur2(-7, -3)
\set d hash(42)
\set e hash_fnv1a(42)
\set f permute(5, 100, 11)
\set g permute(0, 1)
\set h permute(123456789, 1000000007)
\set i permute(-1, 64, 0)
\set j permute(9223372036854775807, 9223372036854775807, 5)
SELECT :a, :b, :c, :d, :e, :f, :g, :h, :i, :j, :default_seed, :random_seed, :client_id, :scale;
\set long 1 + \
  2 + \
  3
SELECT :long, ':long', '":a"', $$:b$$, '12:34:56', ':undefined', :c::bigint, 'it''s; :d', E'\'; :e';
