/** The parsed words of a shell line. */
export interface TypedWords {
  /** Words before the one to complete; `--name=value` counts as one. */
  readonly given: readonly string[]
  /** Typed part of the word to complete, or of the value in it. */
  readonly typed: string
  /** Text before `typed` in the word that the shell replaces: `--name=`, or empty. */
  readonly prefix: string
  /** Option whose value is being completed; null if none. */
  readonly option: string | null
}

/**
 * Parses the words of a line. zsh and fish pass `--name=value` as one word and replace it; bash passes three words and replaces only
 * the value.
 *
 * @param words the last is the one to complete, and may be empty
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
