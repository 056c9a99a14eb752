import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export type Variables = Readonly<Record<string, string | undefined>>;

/** A service of a compose file, as far as tests read it. */
export interface ComposeService {
  image: string;
  environment: Record<string, string | number | null>;
  networks?: string[];
  profiles?: string[];
  ports?: string[];
  secrets?: string[];
  deploy?: { replicas: number };
  stop_grace_period?: string;
}

export interface ComposeFile {
  services: Record<string, ComposeService>;
  networks: Record<string, { internal?: boolean } | null>;
  volumes: Record<string, null>;
  secrets?: Record<string, { file: string }>;
}

/** Reads docker-compose.yml and merges more files over it, as Compose does: mappings by key, lists one after the other. */
export function readCompose(...fragments: readonly string[]): ComposeFile {
  const texts = [readFileSync('docker-compose.yml', 'utf8'), ...fragments];
  return texts.map((text) => parse(text, { merge: true })).reduce(merge) as ComposeFile;
}

function merge(below: unknown, above: unknown): unknown {
  if (Array.isArray(below) && Array.isArray(above)) return [...(below as unknown[]), ...(above as unknown[])];
  if (!isMapping(below) || !isMapping(above)) return above;
  const both = Object.entries(above).map(([key, value]) => [key, key in below ? merge(below[key], value) : value]);
  return { ...below, ...Object.fromEntries(both) };
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns what a container sees: a name without a value takes that of `variables`, and is not set without one. */
export function environmentOf({ environment }: ComposeService, variables: Variables): Record<string, string> {
  const all = Object.entries(environment).map(([name, value]) => [
    name,
    value === null ? variables[name] : interpolate(String(value), variables),
  ]);
  return Object.fromEntries(all.filter(([, value]) => value !== undefined)) as Record<string, string>;
}

/**
 * Replaces `${NAME-text}`, `${NAME:-text}` and `${NAME?message}`. Compose evaluates what a text holds even where it is not used.
 * @throws Error with the message
 */
export function interpolate(text: string, variables: Variables): string {
  return text.replaceAll(
    /\$\{(\w+)(:?)([-?])([^$}]*)\}/g,
    (_, name: string, colon: string, sign: string, rest: string) => {
      const given = variables[name];
      if (given !== undefined && !(colon && given === '')) return given;
      if (sign === '?') throw new Error(rest);
      return rest;
    },
  );
}
