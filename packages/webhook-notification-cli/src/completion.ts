import type { Command } from './command-line';

const SHELLS = ['bash', 'zsh', 'fish'];

/** Prints a script that completes commands and options in a shell. */
export const completionOf = (others: readonly Command[]): Command => ({
  name: 'completion',
  usage: SHELLS.join('|'),
  help: `Prints a script that completes commands and options, for the start file of a shell:
  bash, zsh: source <(npx webhook-notification-cli completion bash)
  fish:      npx webhook-notification-cli completion fish | source`,
  operand: 'shell',
  options: {},
  run(line) {
    const shell = line.operand;
    if (!SHELLS.includes(shell)) line.refuse(`It knows ${SHELLS.join(', ')}.`);
    process.stdout.write(shell === 'fish' ? fishOf(others) : bashOf(others, shell === 'zsh'));
    return Promise.resolve(0);
  },
});

const optionsOf = ({ options }: Command): string[] => Object.keys(options).map((name) => `--${name}`);

function bashOf(commands: readonly Command[], isZsh: boolean): string {
  const first = new Set(commands.map(({ name }) => name.split(' ')[0]));
  const cases = commands.map((command) => {
    const words = command.name.split(' ');
    return `    '${words.join(' ')} '*) options='${optionsOf(command).join(' ')}' ;;`;
  });
  const nested = commands
    .filter(({ name }) => name.includes(' '))
    .map(({ name }) => name.split(' ') as [string, string]);
  const groups = [...new Set(nested.map(([group]) => group))].map(
    (group) =>
      `    '${group} '*) options='${nested.flatMap(([of, word]) => (of === group ? [word] : [])).join(' ')}' ;;`,
  );
  return `${isZsh ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_webhook_notification() {
  local options='${[...first].join(' ')}' line="\${COMP_WORDS[*]:1:COMP_CWORD-1} "
  case "$line" in
${[...cases, ...groups].join('\n')}
  esac
  COMPREPLY=($(compgen -W "$options" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _webhook_notification webhook-notification
`;
}

function fishOf(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => {
    const words = command.name.split(' ');
    const [first = '', second] = words;
    const uses = `__fish_seen_subcommand_from ${second ?? first}`;
    return [
      `complete -c webhook-notification -n __fish_use_subcommand -f -a ${first}`,
      ...(second === undefined
        ? []
        : [`complete -c webhook-notification -n '__fish_seen_subcommand_from ${first}' -f -a ${second}`]),
      ...Object.keys(command.options).map((name) => `complete -c webhook-notification -n '${uses}' -l ${name}`),
    ];
  });
  return `${[...new Set(lines)].join('\n')}\n`;
}
