import { followersIn } from './followers-in';

const ADA = { id: '1', username: 'ada', displayName: 'Lovelace, Ada' };

describe('followersIn', () => {
  it('reads a follower from each line', () => {
    expect(followersIn('1, ada, Lovelace, Ada\n\n  2,bob \r\n3\n')).toEqual([
      ADA,
      { id: '2', username: 'bob' },
      { id: '3', username: '3' },
    ]);
  });

  it('reads JSON: a list, the body of the API, and ids alone', () => {
    expect(followersIn(JSON.stringify([ADA]))).toEqual([ADA]);
    expect(followersIn(JSON.stringify({ followers: [ADA] }))).toEqual([ADA]);
    expect(followersIn(' ["1"]')).toEqual([{ id: '1', username: '1' }]);
    expect(followersIn('[]')).toEqual([]);
  });

  it('passes on wrong followers, which the service refuses', () => {
    expect(followersIn('[5, {"id": 6}]')).toEqual([5, { id: 6 }]);
    expect(followersIn(', ada')).toEqual([{ id: '', username: 'ada' }]);
  });

  it.each(['[', '{}', '{"followers": {}}', '{"id": "1"}'])('finds no list in %s', (text) => {
    expect(followersIn(text)).toBeNull();
  });
});
