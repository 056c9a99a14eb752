/** Settings of every embedded server, except its port. They make it durable, and keep it small. */
export const SERVER_SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // With this on, a commit waits about 50 ms while a new WAL file is filled with zeros.
  wal_init_zero: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  jit: 'off',
  // Parallel queries need more of /dev/shm than a container has by default.
  max_parallel_workers: '0',
  // Keeps rows and statements out of the log, and the log small. Clients still get their errors.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
};
