const EXPECTED = {
  value: 'a value is expected here',
  name: 'the name of a field in double quotes is expected here',
  colon: 'a colon is expected here',
  comma: 'a comma or a closing bracket is expected here',
  end: 'nothing may follow the end of the data',
};

const webhooksText = (count: number): string => (count === 1 ? '1 of your webhooks' : `${count} of your webhooks`);

/** The sentences of the screen that publishes events. */
export const PUBLISH = {
  title: 'Publish',
  event: 'Event type',
  data: 'Data (JSON)',
  leaveEditor: 'Tab indents. To leave the editor, press Escape, then Tab.',
  subject: 'Subject (optional)',
  subjectSays: 'What the event is about, such as invoice/123. Do not put personal data in it.',
  key: 'Idempotency key (optional)',
  keySays: 'If you publish again with the same key, the service returns the first event and sends nothing.',
  audience: 'Audience',
  audiences: { me: 'My webhooks', user: 'Webhooks of another user', everybody: 'Webhooks of all users' },
  user: 'User id',
  noReach: 'No active webhook of yours is subscribed to this event type.',
  reach: (count: number, more: boolean) =>
    `This will reach ${webhooksText(count)}${more ? ', and webhooks of other users' : ''}:`,
  reachUser: 'This will reach the active webhooks of that user that are subscribed to this event type.',
  reachOthers: 'None of your active webhooks is subscribed; this will reach webhooks of other users.',
  filtered: 'if its filter matches',
  more: (count: number) => `and ${count} more`,
  submit: 'Publish',
  shortcut: 'Ctrl+Enter or ⌘+Enter publishes.',
  example: 'Reset to the example',
  notJson: (line: number, column: number, expected: keyof typeof EXPECTED) =>
    `This is not valid JSON. Line ${line}, column ${column}: ${EXPECTED[expected]}.`,
  notJsonAt: (expected: keyof typeof EXPECTED) => `Not valid JSON: ${EXPECTED[expected]}.`,
  notJsonAnywhere: 'This is not valid JSON.',
  invalid: (count: number) =>
    count === 1 ? 'Nothing was published: 1 field is invalid.' : `Nothing was published: ${count} fields are invalid.`,
  line: (line: number) => `Line ${line}`,
  schema: 'Fields',
  anyType: 'any',
  anyData: 'The schema allows any JSON object.',
  moreAbout: 'Example, TypeScript type and subscribers',
};
