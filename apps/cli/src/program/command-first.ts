import { Command, type Option } from 'commander'
import { misplaced } from '../option-values.ts'
import { withAccessOptions, withOutputOptions } from './shared-options.ts'

/** Those that kubectl takes before its command as well as behind it. */
export const sharedOptions: readonly Option[] = withOutputOptions(withAccessOptions(new Command(), { choosing: true }), '').options

/**
 * Puts the command in front of the shared options that were written before it, as kubectl allows: the parser knows them behind a command
 * alone. What begins with another option stays as it is.
 *
 * @param args without the program's own name
 * @throws {AppError} OPTION_INVALID where no command follows them
 */
export function commandFirst(args: readonly string[]): readonly string[] {
  const at = commandAt(args)
  if (at === null || at === 0) return args
  const [first = '', command] = [args[0], args[at]]
  if (command === undefined) throw misplaced(first, 'stands without a command', `add one, such as tranche ${args.join(' ')} list`)
  return [command, ...args.slice(0, at), ...args.slice(at + 1)]
}

/** @returns where the command stands, or would stand behind all words; null where an option comes before it that is not shared */
export function commandAt(args: readonly string[]): number | null {
  let at = 0
  while (at < args.length && args[at]!.startsWith('-')) {
    const option = sharedOption(args[at]!)
    if (option === undefined) return null
    at += takesNext(option, args[at]!) ? 2 : 1
  }
  return at
}

function sharedOption(word: string): Option | undefined {
  const [name] = word.split('=', 1)
  return sharedOptions.find(({ long, short }) => name === long || (short !== undefined && !word.startsWith('--') && word.startsWith(short)))
}

/** `-n demo` and `--namespace demo`; not `-ndemo` and `--namespace=demo`. */
function takesNext({ required, long, short }: Option, word: string): boolean {
  return required && (word === long || word === short)
}
