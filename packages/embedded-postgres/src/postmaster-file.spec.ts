import { parsePostmasterFile, withoutLivingPid } from './postmaster-file';

const READY = ['4711', '/data', '1790000000', '5433', '', '127.0.0.1', '  1234567   42', 'ready   ', ''].join('\n');

describe('postmaster.pid', () => {
  it('contains pid, port and status', () => {
    expect(parsePostmasterFile(READY)).toEqual({ pid: 4711, port: 5433, status: 'ready' });
  });

  it('has no status and no port yet just after its creation', () => {
    expect(parsePostmasterFile('4711\n/data\n')).toEqual({ pid: 4711, port: 0, status: '' });
  });

  it.each(['', '\n', 'nonsense', '0\n', '-4711\n/data'])('is invalid when it reads %j', (text) => {
    expect(parsePostmasterFile(text)).toBeNull();
  });

  it('keeps everything but the pid when that is removed', () => {
    const lines = withoutLivingPid(READY).split('\n');
    expect(lines.slice(1)).toEqual(READY.split('\n').slice(1));
    expect(lines[0]).not.toBe('4711');
    expect(() => process.kill(Number(lines[0]), 0)).toThrow('ESRCH');
  });
});
