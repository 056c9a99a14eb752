import { nobodyIn, postgresUserIn } from './postgres-user';

const ROOT = 'root:x:0:0:root:/root:/bin/bash';
const NOBODY = 'nobody:x:65534:65533:nobody:/nonexistent:/usr/sbin/nologin';
const POSTGRES = 'postgres:x:101:104:PostgreSQL administrator,,,:/var/lib/postgresql:/bin/bash';
const OWN = 'webhook-notification:x:998:997::/home/webhook-notification:/bin/sh';

describe('The user of PostgreSQL', () => {
  it.each([
    ['is the documented user if it exists', [ROOT, NOBODY, POSTGRES, OWN], { uid: 998, gid: 997 }],
    ['is otherwise that of an installed PostgreSQL', [ROOT, NOBODY, POSTGRES], { uid: 101, gid: 104 }],
    ['is otherwise nobody', [ROOT, NOBODY], { uid: 65534, gid: 65533 }],
    ['is nobody by number when no file names it', [], { uid: 65534, gid: 65534 }],
    [
      'has an unsigned number on macOS',
      ['nobody:*:-2:-2:Unprivileged User:/var/empty:/usr/bin/false'],
      { uid: 4294967294, gid: 4294967294 },
    ],
    ['is never root', [NOBODY, 'postgres:x:0:0::/root:/bin/sh'], { uid: 65534, gid: 65533 }],
    ['is no user whose number is invalid', [NOBODY, 'postgres:x::104'], { uid: 65534, gid: 65533 }],
  ])('%s', (_, lines, user) => {
    expect(postgresUserIn([...lines, ''].join('\n'))).toEqual(user);
  });

  it('is recognized as shared when it is nobody', () => {
    const passwd = [POSTGRES, NOBODY].join('\n');
    expect(nobodyIn(passwd)).toEqual({ uid: 65534, gid: 65533 });
  });
});
