import { parseArgs } from 'node:util';

/** A command of `webhook-notification`. */
export interface Command {
  /** Its name after that of the program, such as `outbox sql`. */
  name: string;
  /** What follows the name, as help shows it. */
  usage: string;
  /** What it does, in whole sentences. */
  help: string;
  options: Readonly<Record<string, 'string' | 'boolean'>>;
  /** Returns the exit code: 1 when somebody has to look. */
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
    private readonly operands: readonly string[],
    private readonly environment: Environment,
  ) {}

  /** @throws Misunderstood for an unknown option, or one without its value */
  static parse(command: Command, args: readonly string[], environment: Environment): CommandLine {
    const options = Object.fromEntries(Object.entries(command.options).map(([name, type]) => [name, { type }]));
    try {
      const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
      return new CommandLine(command, values, positionals, environment);
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
    if (value === undefined) throw misunderstood(this.command, `--${name} is missing.`);
    return value;
  }

  /** @throws Misunderstood when the environment lacks the variable */
  variable(name: string, meaning: string): string {
    return this.environment[name] || this.refuse(`${name} is missing: set it to ${meaning}.`);
  }

  flag(name: string): boolean {
    return this.values[name] === true;
  }

  /**
   * Returns the operand with this name, which is the only one; without a name there is none.
   * @throws Misunderstood when there are more or fewer
   */
  operand(name: string): string {
    const [operand, ...more] = this.operands;
    if (operand === undefined || more.length > 0) throw misunderstood(this.command, `It takes one ${name}.`);
    return operand;
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
