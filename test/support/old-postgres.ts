import type { Socket } from 'node:net';

const VALUES = { version: '14.12 (Debian 14.12-1)', number: '140012', encoding: 'UTF8', readOnly: 'off' };

/** Answers a connection as PostgreSQL 14 does, as far as a start asks before it refuses that version. */
export function answerAsVersion14(socket: Socket): void {
  const ready = message('Z', 'I');
  const names = Object.keys(VALUES);
  // Each column: table 0, column 0, type 25 (text), any length, no modifier, as text.
  const rest = [0, 0, 0, 0, 0, 0, 0, 0, 0, 25, 255, 255, 255, 255, 255, 255, 0, 0];
  const columns = names.flatMap((name) => [...Buffer.from(`${name}\0`), ...rest]);
  const row = Object.values(VALUES).flatMap((text) => [0, 0, 0, text.length, ...Buffer.from(text)]);
  const rows = [message('T', [0, names.length, ...columns]), message('D', [0, names.length, ...row])];
  socket.on('error', () => undefined);
  socket.once('data', () => {
    socket.write(Buffer.concat([message('R', [0, 0, 0, 0]), ready]));
    socket.on('data', (data) => {
      const asked = data.includes('server_version') ? rows : [];
      socket.write(Buffer.concat([...asked, message('C', 'SELECT 1\0'), ready]));
    });
  });
}

/** A message of PostgreSQL's protocol: its type, its length, its body. */
function message(type: string, body: string | number[]): Buffer {
  const bytes = Buffer.from(body as string);
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes.length + 4);
  return Buffer.concat([Buffer.from(type), length, bytes]);
}
