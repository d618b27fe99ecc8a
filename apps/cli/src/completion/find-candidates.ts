import type { Command, Option } from 'commander'

/** One way to go on, and what it is. */
export interface Candidate {
  readonly word: string
  readonly about: string
}

/** What can follow the words so far. */
export interface Completion {
  readonly candidates: readonly Candidate[]
  /** The cluster knows more of them; `values` are the options that were given before. */
  readonly ask: { readonly what: 'rollouts' | 'namespaces' | 'contexts'; readonly values: Readonly<Record<string, string>> } | null
  /** The name of a file can stand there. */
  readonly files: boolean
}

const fixedValues: Readonly<Record<string, readonly string[]>> = {
  '--output': ['json', 'yaml', 'name', 'wide'],
  '--outcome': ['Done', 'Failed', 'Waiting', 'Running'],
  '--log-level': ['debug', 'info', 'warn', 'error'],
}
/** Placeholders of options whose value is the name of a file. */
const fileValues = /<(?:file|path)>/
const askedValues: Readonly<Record<string, 'rollouts' | 'namespaces' | 'contexts'>> = {
  '--namespace': 'namespaces',
  '--context': 'contexts',
  '--rollout': 'rollouts',
}

/**
 * What can stand in the place of the last word.
 *
 * @param words all words after the program's name; the last is the one under way, and may be empty
 */
export function findCandidates(program: Command, words: readonly string[]): Completion {
  const current = words.at(-1) ?? ''
  const command = program.commands.find((one) => one.name() === words[0])
  if (command === undefined || words.length < 2) return plain(commandsOf(program), current)
  const before = words.slice(1, -1)
  const values = valuesOf(command, before)
  const pending = optionOf(command, before.at(-1))
  if (pending?.required === true) return valueCandidates(pending, values, current)
  if (current.startsWith('-')) return plain(command.options.map(toCandidate), current)
  if (command.name() === 'completion')
    return plain(
      ['bash', 'zsh', 'fish'].map((word) => ({ word, about: '' })),
      current,
    )
  const takesRollout = command.registeredArguments[0]?.name().match(/^(rollout|subject)$/) != null
  return { candidates: [], ask: takesRollout && positionals(command, before) === 0 ? { what: 'rollouts', values } : null, files: false }
}

function plain(all: readonly Candidate[], current: string): Completion {
  return { candidates: all.filter(({ word }) => word.startsWith(current)), ask: null, files: false }
}

function commandsOf(program: Command): readonly Candidate[] {
  return program
    .createHelp()
    .visibleCommands(program)
    .map((command) => ({ word: command.name(), about: command.description() }))
}

function toCandidate(option: Option): Candidate {
  return { word: option.long ?? option.short ?? '', about: option.description }
}

function valueCandidates(option: Option, values: Readonly<Record<string, string>>, current: string): Completion {
  const name = option.long ?? ''
  const asked = askedValues[name]
  if (asked !== undefined) return { candidates: [], ask: { what: asked, values }, files: false }
  const fixed = plain(
    (fixedValues[name] ?? []).map((word) => ({ word, about: '' })),
    current,
  )
  return { ...fixed, files: fileValues.test(option.flags) }
}

function optionOf(command: Command, word: string | undefined): Option | undefined {
  return command.options.find(({ long, short }) => word !== undefined && (word === long || word === short))
}

function valuesOf(command: Command, words: readonly string[]): Readonly<Record<string, string>> {
  const values: Record<string, string> = {}
  for (const [at, word] of words.entries()) {
    const [name, attached] = word.split('=', 2)
    const option = optionOf(command, name)
    const value = attached ?? words[at + 1]
    if (option?.required === true && value !== undefined) values[option.attributeName()] = value
  }
  return values
}

/** Words that are neither options nor their values. */
function positionals(command: Command, words: readonly string[]): number {
  return words.filter((word, at) => !word.startsWith('-') && optionOf(command, words[at - 1])?.required !== true).length
}
