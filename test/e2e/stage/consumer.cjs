// A consumer of a pull webhook, as a process that a test can kill: leases through one API after the other, and prints each
// lease before it acknowledges it, and each acknowledgement that counted.
const { setTimeout: pause } = require('node:timers/promises');

const { SERVICES, TOKEN, WEBHOOK_ID, LEASE_SECONDS, WORK_MS } = process.env;
const services = SERVICES.split(',');
const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

async function call(service, name, body) {
  const response = await fetch(`${service}/api/webhooks/${WEBHOOK_ID}/messages/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { data } = await response.json();
  if (!response.ok) throw new Error(`${name} returned ${response.status}`);
  return data;
}

async function consume(service) {
  const messages = await call(service, 'lease', { limit: 5, waitSeconds: 2, leaseSeconds: Number(LEASE_SECONDS) });
  for (const { deliveryId, expiresAt, headers } of messages)
    print({ leased: deliveryId, expiresAt, eventId: headers['webhook-id'], attempt: headers['x-service-attempt'] });
  await pause(Number(WORK_MS));
  if (messages.length === 0) return;
  const { succeeded } = await call(service, 'ack', { succeeded: messages.map(({ leaseId }) => leaseId) });
  for (const leaseId of succeeded) print({ succeeded: leaseId.split('.')[0] });
}

async function run() {
  for (let turn = 0; ; turn++) await consume(services[turn % services.length]).catch(() => pause(50));
}

void run();
