import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { useHostileReceivers } from '../../../support/hostile-receiver';
import { serviceFile } from '../../../support/service';

const startReceiver = useHostileReceivers();

/** Requests a url once for each step of `before`, in a process that may open 64 files, and prints the results. */
const SCRIPT = `
  const [client, address, url] = process.argv.slice(1);
  const { HttpClient } = require(client);
  const { AddressPolicy } = require(address);
  const { closeSync, openSync } = require('node:fs');
  const http = new HttpClient({
    policy: new AddressPolicy(['127.0.0.0/8']), dnsServers: [], timeoutMs: 10_000, requireHttps: false,
  });
  const post = () => http.post({ url, headers: {}, body: '{}' });
  const ended = [];
  const files = [];
  const before = [
    () => undefined,
    () => { try { for (;;) files.push(openSync('/dev/null')); } catch { /* no more */ } },
    () => files.forEach((file) => closeSync(file)),
  ];
  void (async () => {
    for (const act of before) {
      act();
      ended.push(await post().then(({ kind, code, status }) => code ?? status, String));
    }
    process.stdout.write('ended: ' + ended.join());
    await http.onApplicationShutdown();
  })();`;

it('A process without file descriptors says that it has failed itself, until it has some', async () => {
  const receiver = await startReceiver({
    onRequest: (socket) => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'),
  });
  const modules = ['http.client.js', 'address.js'].map((file) =>
    serviceFile(`src/infrastructure/destinations/${file}`),
  );
  const { stdout, stderr } = await promisify(execFile)('bash', [
    ...['-c', 'ulimit -n 64 && exec "$@"', 'bash', process.execPath, '-e', SCRIPT, ...modules, receiver.url],
  ]);
  expect(stdout).toMatch(/ended: 200,service_failed,200$/);
  expect(stderr).toContain('This process cannot open connections (EMFILE)');
});
