// Prints docs/images/architecture.svg, the path of an event:

/**
 * Left, top, width and height; then the baseline of the title, and its lines.
 * @type {any}
 */
const GROUPS = [
  [16, 16, 216, 520, 40, 'PostgreSQL: the record'],
  [580, 120, 204, 300, 276, 'BullMQ jobs,', 'in Redis or PostgreSQL'],
];

/**
 * Left, top, width, height, a title, and further lines.
 * @type {any}
 */
const BOXES = [
  [32, 52, 184, 84, 'events', 'one row per event,', 'leased until fanned out'],
  [32, 330, 184, 190, 'deliveries', 'one row per attempt,', 'leased while pending,', 'deferred without a slot'],
  [312, 48, 176, 70, 'Publish', 'POST /api/events', 'EventsService'],
  [312, 190, 176, 70, 'Fan-out', 'FanOutService', 'finds the webhooks'],
  [312, 330, 176, 70, 'Slots', 'SlotsService', 'waits in memory for 1 s'],
  [312, 460, 176, 88, 'Attempt', 'AttemptsService', 'sign, send, classify,', 'write the outcome'],
  [312, 612, 176, 52, 'Receiver', 'the URL of the webhook'],
  [596, 160, 172, 64, 'job {fan-out}', 'up to 100 event ids'],
  [596, 334, 172, 64, 'job {send-0}', 'up to 50 delivery ids'],
  [16, 612, 150, 70, 'Log', 'GET /api/deliveries', 'DeliveryLogService'],
  [596, 592, 172, 70, 'Sweeper', 'SweeperService', 'every second'],
];

/**
 * The points of an arrow; then the left edge and baseline of its label, and the lines of the label.
 * @type {any}
 */
const ARROWS = [
  ['312,84 216,84', 238, 76, 'insert, 202'],
  ['400,118 400,190', 408, 150, 'same process:', 'FanOutService'],
  ['488,84 682,84 682,160', 496, 76, 'else a job: FanOutQueue'],
  ['596,208 488,208', 490, 200, 'FanOutProcessor'],
  ['312,222 124,222 124,136', 238, 214, 'claim'],
  ['400,260 400,330', 408, 290, 'first attempts,', 'from memory'],
  ['312,350 216,350', 238, 342, 'no slot'],
  ['216,386 312,386', 238, 378, 'dispatch'],
  ['596,366 488,366', 496, 358, 'SendProcessor'],
  ['400,400 400,460', 408, 434, 'slot'],
  ['216,478 312,478', 238, 470, 'claim, read'],
  ['312,506 216,506', 238, 498, 'outcome'],
  ['488,504 682,504 682,398', 496, 496, 'retry, delayed: SendQueue'],
  ['400,548 400,612', 408, 584, 'signed POST'],
  ['91,520 91,612', 99, 584, 'read'],
  ['196,536 196,700 682,700 682,662', 212, 692, 'rows whose lease has expired'],
  ['742,592 742,420', 684, 556, 'new jobs'],
];

const text = (x, y, line, style) => `<text x="${x}" y="${y}" class="${style}">${line}</text>`;
const lines = (x, y, all, style) => all.map((line, i) => text(x, y + 16 * i, line, style)).join('');

const group = ([x, y, w, h, base, ...title], i) =>
  `<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="10" class="group${i}"/>${lines(x + w / 2, base, title, 'group')}`;
const box = ([x, y, w, h, title, ...more]) =>
  `<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="6" class="box"/>` +
  text(x + w / 2, y + 24, title, 'title') +
  lines(x + w / 2, y + 43, more, 'line');
const arrow = ([points]) => `<polyline points="${points}" class="arrow" marker-end="url(#head)"/>`;
const label = ([, x, y, ...all]) => lines(x, y, all, 'label');

console.log(
  [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 716" width="800" height="716" role="img">',
    '<title>How an event becomes deliveries</title>',
    `<style>
text{font:12px Helvetica,Arial,sans-serif;fill:#24292f;text-anchor:middle}
.title{font-size:14px;font-weight:bold}
.group{font-size:13px;font-weight:bold;fill:#57606a}
.label{text-anchor:start;fill:#0550ae;paint-order:stroke;stroke:#fff;stroke-width:3px}
.group0{fill:#eef4fb;stroke:#9bb8d9}
.group1{fill:#fdf3e7;stroke:#dcb98a}
.box{fill:#fff;stroke:#57606a}
.arrow{fill:none;stroke:#0550ae;stroke-width:1.5}
</style>`,
    '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">' +
      '<path d="M0 0 8 4 0 8z" fill="#0550ae"/></marker></defs>',
    '<rect width="800" height="716" rx="10" fill="#fff"/>',
    ...GROUPS.map(group),
    ...BOXES.map(box),
    ...ARROWS.map(arrow),
    ...ARROWS.map(label),
    '</svg>',
  ].join('\n'),
);
