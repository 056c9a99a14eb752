/** Sentences about access tokens. */
const tokens = {
  make: 'New token',
  create: 'Create token',
  name: 'Name',
  nameSays: 'The person or program that will use it.',
  noName: 'Enter a name.',
  noScope: 'Choose at least one scope.',
  preset: 'It may',
  presets: { read: 'Read only', publish: 'Publish only', all: 'Everything I may' },
  scopes: 'Scopes',
  about: {
    'webhooks:read': 'read webhooks',
    'webhooks:write': 'create, change, test and delete webhooks',
    'deliveries:read': 'read deliveries, events and figures',
    'events:publish': 'publish events for you',
    'events:broadcast': 'publish events for other users and for everybody',
    'event-types:manage': 'create, change and delete event types',
    'accounts:manage': 'read, connect and disconnect accounts',
    'tokens:manage': 'create and revoke your tokens',
    'users:manage': 'manage the tokens of other users',
    'users:erase': 'delete everything about a user',
  },
  ends: 'Expires',
  days: (count: number) => `after ${count === 1 ? '1 day' : `${count} days`}`,
  withParent: (name: string) => `together with ${name}`,
  parent: {
    token: (name: string) =>
      `The new token will be revoked together with “${name}”, the token that this session was made with.`,
    until: (name: string, at: string) => `It cannot outlive “${name}”, which expires on ${at}.`,
    outlives: 'Signing out does not revoke it.',
    bootstrap:
      'This session was made with BOOTSTRAP_TOKEN. The new token stays valid until that setting changes, also when you sign out.',
    session:
      'This session was not made with an access token, so the new token ends with the session: when you sign out or the session expires.',
    unknown: 'The new token will be revoked together with the token that this session was made with.',
  },
  theSession: 'this session',
  theParent: 'the token of this session',
  once: 'Copy the token now',
  onceSays: (name: string) =>
    `“${name}” was created. The token is shown only once, because the service stores only a hash of it.`,
  newToken: 'New token',
  copied: 'I have copied it',
  list: 'Which tokens are revoked together',
  listSays: 'Revoking a token also revokes the tokens indented below it.',
  bootstrap:
    'BOOTSTRAP_TOKEN is a setting of the service and not in this list. Sessions made with it end when it changes, and so do tokens created in these sessions.',
  sessionOf: (at: string) => `Console session of ${at}`,
  expiresIn: (left: string) => `expires in ${left}`,
  never: 'never',
  used: 'Last used',
  unused: 'never',
  revoke: 'Revoke',
  revokeThis: (name: string) => `Revoke ${name}?`,
  atOnce: 'Requests with this token are refused immediately.',
  falling: (count: number) =>
    count === 1 ? 'This token is revoked with it:' : `These ${count} tokens are revoked with it:`,
  ofOthers: 'Tokens that it created for other users are revoked too.',
  signsOut: 'This ends your session: you will have to sign in again.',
} as const;

/** Every sentence of the screens about access. */
export const ACCESS = { tokens } as const;
