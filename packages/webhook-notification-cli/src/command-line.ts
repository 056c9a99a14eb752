import { parseArgs } from 'node:util';

/** A command of `webhook-notification`. */
export interface Command {
  /** Its name after that of the program, such as `outbox sql`. */
  name: string;
  /** What follows the name, as help shows it. */
  usage: string;
  /** Sentences that say what the command does. */
  help: string;
  /** What its one operand is; a command without this takes none. */
  operand?: string;
  options: Readonly<Record<string, 'string' | 'boolean'>>;
  /** Returns the exit code: 1 when an operator must act. */
  run(line: CommandLine): Promise<number>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A command line that was not understood: exit code 2. */
export class Misunderstood extends Error {}

/** What was typed after the name of a command. */
export class CommandLine {
  private constructor(
    private readonly command: Command,
    private readonly values: Readonly<Record<string, string | boolean | undefined>>,
    /** The one operand; empty for a command that takes none. */
    readonly operand: string,
    private readonly environment: Environment,
  ) {}

  /** @throws Misunderstood for an unknown option, one without its value, or another number of operands */
  static parse(command: Command, args: readonly string[], environment: Environment): CommandLine {
    const options = Object.fromEntries(Object.entries(command.options).map(([name, type]) => [name, { type }]));
    try {
      const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
      const wanted = command.operand === undefined ? 0 : 1;
      if (positionals.length !== wanted)
        throw new Error(`It takes ${wanted === 0 ? 'no operand' : `one ${command.operand}`}.`);
      return new CommandLine(command, values, positionals[0] ?? '', environment);
    } catch (error) {
      throw misunderstood(command, (error as Error).message);
    }
  }

  option(name: string): string | undefined {
    const value = this.values[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  /** @throws Misunderstood when the option is missing */
  needed(name: string): string {
    const value = this.option(name);
    return value ?? this.refuse(`--${name} is missing.`);
  }

  /** @throws Misunderstood when the environment lacks the variable */
  variable(name: string, meaning: string): string {
    return this.environment[name] || this.refuse(`${name} is missing: set it to ${meaning}.`);
  }

  optionalVariable(name: string): string | undefined {
    return this.environment[name] || undefined;
  }

  /** @throws Misunderstood when the option is anything but a whole number from 1 to `most` */
  wholeNumber(name: string, most: number): number | undefined {
    const value = this.option(name);
    if (value === undefined) return undefined;
    if (/^[1-9]\d{0,9}$/.test(value) && Number(value) <= most) return Number(value);
    return this.refuse(`--${name} must be a whole number from 1 to ${most}.`);
  }

  flag(name: string): boolean {
    return this.values[name] === true;
  }

  /** @throws Misunderstood */
  refuse(reason: string): never {
    throw misunderstood(this.command, reason);
  }
}

export const helpOf = ({ name, usage, help }: Command): string =>
  `Usage: webhook-notification ${name} ${usage}\n\n${help}\n`;

const misunderstood = (command: Command, reason: string): Misunderstood =>
  new Misunderstood(`${reason}\n${helpOf(command)}`);
