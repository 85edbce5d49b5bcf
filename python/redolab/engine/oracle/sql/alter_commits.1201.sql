-- How a plain COMMIT of this session commits from now on; it ends with the session.
alter session set commit_wait = '{wait}' commit_logging = '{logging}'
