import type { Command, Option } from 'commander'
import { commandAt, sharedOptions } from '../program/command-first.ts'
import { type TypedWords, typedWords } from './typed-words.ts'

/** One way to go on, and what it is. */
export interface Candidate {
  readonly word: string
  readonly about: string
}

/** What can follow the words so far. */
export interface Completion extends Pick<TypedWords, 'typed' | 'prefix'> {
  /** Those that begin with what was typed. */
  readonly candidates: readonly Candidate[]
  /** The cluster, or the kubeconfig, knows more of them. */
  readonly ask: Asked | null
  /** The name of a file can stand there. */
  readonly files: boolean
}

/** What a shell wants to know of others. `subjects`: Rollouts, and nodes of the one that is meant. */
export interface Asked {
  readonly what: 'rollouts' | 'subjects' | 'revisions' | 'hashes' | 'namespaces' | 'contexts' | 'clusters' | 'users'
  /** Options that were given before. */
  readonly values: Readonly<Record<string, string>>
  /** Rollout that was named before, as written. */
  readonly rollout?: string | undefined
}

/** The line, up to the word under way. */
interface Line extends TypedWords {
  readonly command: Command
  /** Words behind the command, and options before it. */
  readonly before: readonly string[]
}

const fixedValues: Readonly<Record<string, readonly string[]>> = {
  '--output': ['json', 'yaml', 'name', 'wide'],
  '--outcome': ['Done', 'Failed', 'RolledBack', 'Blocked', 'Waiting', 'Running'],
  '--log-level': ['debug', 'info', 'warn', 'error'],
}
/** Placeholders of options whose value is the name of a file. */
const fileValues = /<(?:file|path)>/
const askedValues: Readonly<Record<string, Asked['what']>> = {
  '--namespace': 'namespaces',
  '--context': 'contexts',
  '--cluster': 'clusters',
  '--user': 'users',
  '--rollout': 'rollouts',
  '--to-revision': 'revisions',
  '--revision': 'hashes',
}
/** By the names of arguments in the help. */
const askedArguments: Readonly<Record<string, Asked['what']>> = {
  rollout: 'rollouts',
  subject: 'subjects',
  from: 'revisions',
  to: 'revisions',
}
const nothing = { candidates: [], ask: null, files: false } as const

/**
 * What can stand in the place of the last word.
 *
 * @param words all words after the program's name; the last is the one under way, and may be empty. Options of kubectl may stand before
 * the command, and `--name=value` may come as three words, as bash has it
 */
export function findCandidates(program: Command, words: readonly string[]): Completion {
  const read = typedWords(words)
  const { given, typed, prefix } = read
  const at = commandAt(given)
  const command = at === null ? undefined : program.commands.find((one) => one.name() === given[at])
  const found =
    command === undefined || at === null
      ? beforeCommand(program, read)
      : behindCommand({ ...read, command, before: given.toSpliced(at, 1) })
  return { ...found, typed, prefix }
}

type Found = Omit<Completion, 'typed' | 'prefix'>

function beforeCommand(program: Command, read: TypedWords): Found {
  const pending = optionOf(sharedOptions, read.option)
  if (pending?.required === true)
    return valueCandidates(pending, { what: 'rollouts', values: valuesOf(sharedOptions, read.given) }, read.typed)
  if (read.typed.startsWith('-')) return plain([...program.options, ...sharedOptions].map(toCandidate), read.typed)
  return plain(commandsOf(program), read.typed)
}

function behindCommand({ command, before, option, typed }: Line): Found {
  const { options } = command
  const names = positionals(command, before)
  const asked: Asked = { what: 'rollouts', values: valuesOf(options, before), rollout: names[0] }
  const pending = optionOf(options, option)
  if (pending?.required === true) return valueCandidates(pending, asked, typed)
  if (typed.startsWith('-')) return plain(options.filter(({ hidden }) => !hidden).map(toCandidate), typed)
  const argument = command.registeredArguments[names.length]?.name() ?? ''
  if (argument === 'shell') return plain(['bash', 'zsh', 'fish'].map(withoutAbout), typed)
  const what = askedArguments[argument]
  return what === undefined ? nothing : { ...nothing, ask: { ...asked, what } }
}

function plain(all: readonly Candidate[], typed: string): Found {
  return { ...nothing, candidates: all.filter(({ word }) => word.startsWith(typed)) }
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

function withoutAbout(word: string): Candidate {
  return { word, about: '' }
}

function valueCandidates(option: Option, asked: Asked, typed: string): Found {
  const name = option.long ?? ''
  const what = askedValues[name]
  if (what !== undefined) return { ...nothing, ask: { ...asked, what } }
  return { ...plain((fixedValues[name] ?? []).map(withoutAbout), typed), files: fileValues.test(option.flags) }
}

function optionOf(options: readonly Option[], word: string | null | undefined): Option | undefined {
  return options.find(({ long, short }) => word !== null && word !== undefined && (word === long || word === short))
}

function valuesOf(options: readonly Option[], words: readonly string[]): Readonly<Record<string, string>> {
  const values: Record<string, string> = {}
  for (const [at, word] of words.entries()) {
    const [name, attached] = word.split('=', 2)
    const option = optionOf(options, name)
    const value = attached ?? words[at + 1]
    if (option?.required === true && value !== undefined) values[option.attributeName()] = value
  }
  return values
}

/** Words that are neither options nor their values. */
function positionals({ options }: Command, words: readonly string[]): readonly string[] {
  return words.filter((word, at) => !word.startsWith('-') && optionOf(options, words[at - 1])?.required !== true)
}
