const followersText = (count: number): string =>
  count === 1 ? '1 follower' : `${count.toLocaleString('en')} followers`;

/** Sentences about the accounts that a user has connected. */
const accounts = {
  title: 'Connected accounts',
  one: 'Connected account',
  says: 'The service reads the followers of connected accounts, and publishes an event for each follower gained or lost.',
  none: 'No account connected yet',
  connect: 'Connect account',
  connectThis: 'Connect an account',
  submit: 'Connect',
  provider: 'Provider',
  providers: { mastodon: 'Mastodon', bluesky: 'Bluesky', push: 'Pushed list' },
  handle: 'Handle',
  handles: {
    mastodon: 'User and server, such as ada@mastodon.social. The list of followers must be public.',
    bluesky: 'Such as ada.bsky.social.',
    push: 'Any name of your own. The service reads nothing; you push the list of followers.',
  },
  noHandle: 'Enter a handle.',
  interval: 'Read every',
  intervals: { 60: '1 minute', 300: '5 minutes', 900: '15 minutes', 3600: '1 hour', 21600: '6 hours', 86400: '1 day' },
  firstList: 'The first list is the baseline: it publishes no events.',
  columns: { account: 'Account', followers: 'Followers', last: 'Last reading', next: 'Next reading' },
  followers: followersText,
  read: 'Read',
  pushed: 'Pushed',
  notRead: 'Not read yet',
  notPushed: 'No list pushed yet',
  lastList: 'Last list',
  next: {
    push: 'When you push a list',
    first: 'Starts shortly',
    now: 'Due now',
    retry: (every: string) => `Retries after ${every} or more`,
    in: (left: string) => `In about ${left}`,
    soon: (left: string) => `in ${left}`,
  },
  every: (length: string) => `every ${length}`,
  states: { ok: 'Up to date', failed: 'Not updated', first: 'Waiting for the first list' },
  connected: 'Connected',
  never: 'never',
  id: 'Copy id',
  missing: 'It may be disconnected, or belong to another user.',
  disconnect: 'Disconnect',
  disconnectThis: (handle: string) => `Disconnect ${handle}?`,
  stops: (count: number | null) =>
    `The service stops following this account${count === null ? '' : ` and deletes its list of ${followersText(count)}`}.`,
  stays: 'This publishes no events. Published events stay in the log.',
  baseline: 'If you connect the account again, its first list publishes no events either.',
  events: 'Events of this account',
  noEvents: (count: number) => `None among the newest ${count} events about followers.`,
  allOf: (event: string) => `All ${event} events`,
  follower: 'Follower',
  push: {
    title: 'Push a list',
    says: 'The list replaces the last one. The service publishes follower.gained for each new follower and follower.lost for each missing one.',
    list: 'Followers',
    form: 'One per line: id, username, display name. Username and display name are optional. JSON as in the API works too.',
    submit: (count: number) => `Push ${followersText(count)}`,
    empty: 'Enter the list first. To push an empty list, enter [].',
    notList: 'This JSON is not a list of followers.',
    done: (count: number, gained: number, lost: number) =>
      `Stored ${followersText(count)}: ${gained.toLocaleString('en')} gained, ${lost.toLocaleString('en')} lost.`,
  },
} as const;

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
    'messages:pull': 'lease events of your pull webhooks and acknowledge them',
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

/** Every sentence of the screens about access: connected accounts and access tokens. */
export const ACCESS = { accounts, tokens } as const;
