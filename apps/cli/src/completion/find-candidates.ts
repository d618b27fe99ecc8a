import { valueIn } from '@tranche/kube-types'
import type { Command, Option } from 'commander'
import { commandAt, sharedOptions } from '../options/command-first.ts'
import { type TypedWords, typedWords } from './typed-words.ts'

/** One candidate with its description. */
export interface CompletionCandidate {
  readonly word: string
  readonly about: string
}

/** Candidates for the last word. */
export interface Completion extends Pick<TypedWords, 'typed' | 'prefix'> {
  /** Candidates that begin with the typed text. */
  readonly candidates: readonly CompletionCandidate[]
  /** Further candidates to read from the cluster or kubeconfig. */
  readonly ask: Asked | null
  /** Whether file names are candidates. */
  readonly files: boolean
}

/** Candidates to read. `subjects`: Rollouts, and nodes of the Rollout in `--rollout`. */
export interface Asked {
  readonly what: 'rollouts' | 'subjects' | 'revisions' | 'hashes' | 'namespaces' | 'contexts' | 'clusters' | 'users'
  /** Options typed so far. */
  readonly values: Readonly<Record<string, string>>
  /** Rollout typed so far, unparsed. */
  readonly rollout?: string | undefined
}

/** The line, up to the word to complete. */
interface Line extends TypedWords {
  readonly command: Command
  /** Words after the command, and options before it. */
  readonly before: readonly string[]
}

const fixedValues: Readonly<Record<string, readonly string[]>> = {
  '--output': ['json', 'yaml', 'name', 'wide'],
  '--outcome': ['Done', 'Failed', 'RolledBack', 'Blocked', 'Waiting', 'Running'],
  '--log-level': ['debug', 'info', 'warn', 'error'],
}
/** Placeholders of options whose value is a file name. */
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
/** Candidates by argument name in the help. */
const askedArguments: Readonly<Record<string, Asked['what']>> = {
  rollout: 'rollouts',
  subject: 'subjects',
  from: 'revisions',
  to: 'revisions',
}
const nothing = { candidates: [], ask: null, files: false } as const

/**
 * Finds the candidates for the last word.
 *
 * @param words all words after the program name; the last is the one to complete, and may be empty. Options of kubectl may precede the
 * command, and `--name=value` may be three words, as in bash
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
  const what = valueIn(askedArguments, argument)
  return what === undefined ? nothing : { ...nothing, ask: { ...asked, what } }
}

function plain(all: readonly CompletionCandidate[], typed: string): Found {
  return { ...nothing, candidates: all.filter(({ word }) => word.startsWith(typed)) }
}

function commandsOf(program: Command): readonly CompletionCandidate[] {
  return program
    .createHelp()
    .visibleCommands(program)
    .map((command) => ({ word: command.name(), about: command.description() }))
}

function toCandidate(option: Option): CompletionCandidate {
  return { word: option.long ?? option.short ?? '', about: option.description }
}

function withoutAbout(word: string): CompletionCandidate {
  return { word, about: '' }
}

function valueCandidates(option: Option, asked: Asked, typed: string): Found {
  const name = option.long ?? ''
  const what = valueIn(askedValues, name)
  if (what !== undefined) return { ...nothing, ask: { ...asked, what } }
  return { ...plain((valueIn(fixedValues, name) ?? []).map(withoutAbout), typed), files: fileValues.test(option.flags) }
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

/** Words that are neither options nor option values. */
function positionals({ options }: Command, words: readonly string[]): readonly string[] {
  return words.filter((word, at) => !word.startsWith('-') && optionOf(options, words[at - 1])?.required !== true)
}
