import { Command, type Option } from 'commander'
import { misplaced } from './option-values.ts'
import { withAccessOptions, withOutputOptions } from './shared-options.ts'

/** Options that are accepted before the command as well as after it, as in kubectl. */
export const sharedOptions: readonly Option[] = withOutputOptions(withAccessOptions(new Command(), { choosing: true }), '').options

/**
 * Moves the command before the shared options that precede it: kubectl allows them there, the parser only after the command. Arguments
 * that begin with another option are returned unchanged.
 *
 * @param args without the program name
 * @throws {AppError} OPTION_INVALID if no command follows them
 */
export function commandFirst(args: readonly string[]): readonly string[] {
  const at = commandAt(args)
  if (at === null || at === 0) return args
  const [first = '', command] = [args[0], args[at]]
  if (command === undefined) throw misplaced(first, 'is not followed by a command', `add one, such as tranche ${args.join(' ')} list`)
  return [command, ...args.slice(0, at), ...args.slice(at + 1)]
}

/** @returns index of the command, or the number of arguments if there is none; null if an option before it is not shared */
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
