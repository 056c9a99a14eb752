import { eventBody } from './event-body';

const ID = '0199c3a4-6f6e-7c52-9d5a-3f1b7d2c8e90';

describe('eventBody', () => {
  it('returns these exact bytes', () => {
    expect(eventBody(ID, 'follower.gained', new Date(Date.UTC(2026, 0, 15, 9, 30)), '{"a":"é"}')).toBe(
      `{"id":"${ID}","event":"follower.gained","createdAt":"2026-01-15T09:30:00.000Z","data":{"a":"é"}}`,
    );
  });

  it('has a subject after the time, and is what JSON.stringify would write', () => {
    const subject = `50 % "é" \\ 🧾 <'>`;
    const body = eventBody(ID, 'follower.gained', new Date(Date.UTC(2026, 0, 15, 9, 30)), '{"subject":1}', subject);
    const createdAt = '2026-01-15T09:30:00.000Z';
    expect(body).toBe(JSON.stringify({ id: ID, event: 'follower.gained', createdAt, subject, data: { subject: 1 } }));
    expect(JSON.stringify(JSON.parse(body))).toBe(body);
  });
});
