import type { Command } from './command-line';
import { printable } from './printable';
import { connect, SERVICE_HELP, SERVICE_OPTIONS } from './service-connection';

/** Sends the event of a delivery again. */
export const redeliver: Command = {
  name: 'redeliver',
  usage: '<delivery> [--service <url>]',
  help: `Sends the event of a delivery again, or makes its pending attempt due now, and prints the id of the new delivery.
${SERVICE_HELP}`,
  operand: 'delivery',
  options: SERVICE_OPTIONS,
  async run(line) {
    const deliveryId = line.operand;
    const { deliveries } = connect(line);
    const { webhookId } = await deliveries.read(deliveryId);
    process.stdout.write(`${printable((await deliveries.redeliver(webhookId, deliveryId)).id)}\n`);
    return 0;
  },
};
