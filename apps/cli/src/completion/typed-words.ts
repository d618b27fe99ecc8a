/** A line as a shell hands it over, read. */
export interface TypedWords {
  /** The words before the one under way; `--name=value` is one. */
  readonly given: readonly string[]
  /** What was typed of the word under way, or of the value in it. */
  readonly typed: string
  /** What stands before `typed` in the word that the shell replaces: `--name=`, or nothing. */
  readonly prefix: string
  /** The option whose value is under way, if there is one that takes a value. */
  readonly option: string | null
}

/**
 * Reads the words of a line. zsh and fish leave `--name=value` one word, and replace all of it; bash makes three of it, and replaces
 * the value alone.
 *
 * @param words the last is the one under way, and may be empty
 */
export function typedWords(words: readonly string[]): TypedWords {
  const current = words.at(-1) ?? ''
  const given = joined(words.slice(0, -1))
  const [, name, value = ''] = /^(--[a-z][a-z-]*)=(.*)$/s.exec(current) ?? []
  if (name !== undefined) return { given, typed: value, prefix: `${name}=`, option: name }
  const last = given.at(-1) ?? null
  if (current === '=' && last !== null) return { given: given.slice(0, -1), typed: '', prefix: '', option: last }
  if (last?.endsWith('=') === true) return { given: given.slice(0, -1), typed: current, prefix: '', option: last.slice(0, -1) }
  return { given, typed: current, prefix: '', option: last }
}

function joined(words: readonly string[]): readonly string[] {
  const whole: string[] = []
  for (const word of words) {
    const last = whole.at(-1) ?? ''
    if (last.startsWith('--') && (word === '=' || last.endsWith('='))) whole[whole.length - 1] = last + word
    else whole.push(word)
  }
  return whole
}
