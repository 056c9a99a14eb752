import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describeWhereInstalled } from '../../support/programs';

const read = (file: string): string => readFileSync(resolve(file), 'utf8');
const RULES = read('ops/alerts.yml')
  .split(/^ +- alert: /m)
  .slice(1);
const NAMES = RULES.map((rule) => /^\w+/.exec(rule)?.[0] ?? '');

describe('Each alert', () => {
  it('has a section of the runbook, in the same order, and its annotation points at it', () => {
    expect(NAMES.length).toBeGreaterThan(10);
    const [, sections = ''] = read('docs/runbook.md').split('\n## Alerts\n');
    expect([...(sections.split('\n## ')[0] ?? '').matchAll(/^### (\w+)$/gm)].map(([, name]) => name)).toEqual(NAMES);
    const annotations = RULES.map((rule) => /^ {10}runbook: (\S+)$/m.exec(rule)?.[1]);
    expect(annotations).toEqual(NAMES.map((name) => `docs/runbook.md#${name.toLowerCase()}`));
  });

  it('stays silent for a service that is well, in a test of promtool', () => {
    const [, well = ''] = read('ops/alerts.test.yml').split('- name: a service that is well fires nothing');
    const [silent = ''] = well.split('- name: ');
    expect([...silent.matchAll(/alertname: (\w+) \}/g)].map(([, name]) => name)).toEqual(NAMES);
  });
});

describeWhereInstalled('promtool', 'The alerts, by promtool', () => {
  it.each([
    ['check', 'ops/alerts.yml'],
    ['test', 'ops/alerts.test.yml'],
  ])('pass: promtool %s rules %s', (command, file) => {
    expect(execFileSync('promtool', [command, 'rules', file], { encoding: 'utf8' })).toContain('SUCCESS');
  });
});
