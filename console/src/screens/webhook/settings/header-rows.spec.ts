import { headerChanges, leavesOrigin, storedRows } from './header-rows';

const STORED = { 'X-Api-Key': '•••', Authorization: '•••' };

describe('headers as rows', () => {
  it('change nothing until one types', () => {
    expect(headerChanges(STORED, storedRows(STORED))).toEqual({});
  });

  it('replace typed values, remove missing rows, and add new ones', () => {
    const rows = [
      { name: 'X-Api-Key', value: 'k-2', isStored: true },
      { name: ' X-Tenant ', value: '7', isStored: false },
      { name: '', value: '', isStored: false },
    ];
    expect(headerChanges(STORED, rows)).toEqual({ Authorization: null, 'X-Api-Key': 'k-2', 'X-Tenant': '7' });
  });

  it('keep a header that was removed and added again in another case', () => {
    const rows = [...storedRows({ Authorization: '•••' }), { name: 'x-api-key', value: 'k-3', isStored: false }];
    expect(headerChanges(STORED, rows)).toEqual({ 'x-api-key': 'k-3' });
  });

  it.each([
    ['https://a.example/x', 'https://a.example/y?z', false],
    ['https://a.example/', 'https://A.example:443/', false],
    ['https://a.example/', 'http://a.example/', true],
    ['https://a.example/', 'https://a.example:8443/', true],
    ['https://a.example/', 'https://', false],
  ])('belong to the origin: from %s to %s', (stored, next, leaves) => {
    expect(leavesOrigin(stored, next)).toBe(leaves);
  });
});
