-- Sets how a plain COMMIT of this session commits until the session ends.
alter session set commit_wait = '{wait}' commit_logging = '{logging}'
