import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readPages, shellLinesOf, type ShellLine } from './pages.ts'

const { scripts, packageManager } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>
  packageManager: string
}
const commands = readPages()
  .flatMap(shellLinesOf)
  .filter(({ command }) => command !== '')
const pnpmPattern = /^(?:npx -y (pnpm@[\d.]+)|pnpm)((?: --?[a-z-]+)*) ([a-z][\w:-]*)(.*)$/
/** pnpm's own verbs that the pages use. */
const pnpmVerbs = ['install', 'exec', 'run']

describe('commands of the pages', () => {
  it('are found', () => {
    expect(commands.length).toBeGreaterThan(10)
  })

  it('run pnpm in the version that package.json names, and scripts that exist', () => {
    expect(commands.filter(({ command }) => /^(npx|pnpm) /.test(command) && !isKnownPnpmCommand(command))).toEqual([])
  })

  it('name only existing files to kubectl', () => {
    const files = commands.flatMap(({ where, command }) =>
      [...command.matchAll(/^kubectl .*?(?:-f|--filename|--patch-file)[ =](\S+)/g)].map((match) => ({ where, file: match[1] ?? '' })),
    )
    expect(files.filter(({ file }) => file !== '-' && !existsSync(file))).toEqual([])
  })

  // One process per subcommand.
  it('use subcommands and flags that the tranche command has', () => {
    const wrong = commands.flatMap((line) => {
      const args = trancheArguments(line.command)
      return args === null ? [] : faultsOf(line, args)
    })
    expect(wrong).toEqual([])
  })
})

function isKnownPnpmCommand(command: string): boolean {
  const [, version, , name = ''] = pnpmPattern.exec(command) ?? []
  return (version === undefined || version === packageManager) && (scripts[name] !== undefined || pnpmVerbs.includes(name))
}

/** @returns the arguments of the tranche command, however it is started; null for other commands */
function trancheArguments(command: string): readonly string[] | null {
  const [, , , script = '', rest = ''] = pnpmPattern.exec(command) ?? []
  if (script === 'tranche') return words(rest)
  if (script === 'start') return ['dev', ...words(rest)]
  return command.startsWith('tranche ') ? words(command.slice('tranche '.length)) : null
}

function words(text: string): readonly string[] {
  return text
    .replace(/[|>&;].*$/, '')
    .split(/\s+/)
    .filter((word) => word !== '')
}

function faultsOf(line: ShellLine, args: readonly string[]): readonly string[] {
  const subcommand = args[0]?.startsWith('-') === false ? args[0] : commandBehindOptions(args)
  const help = helpOf(subcommand)
  if (help === null) return [`${line.where}: tranche has no subcommand ${subcommand}`]
  const flags = args.filter((word) => word.startsWith('-') && word !== '-').map((word) => word.split('=')[0] ?? '')
  return flags
    .filter((flag) => !new RegExp(`(^|[ ,])${flag}\\b`, 'm').test(help))
    .map((flag) => `${line.where}: tranche ${subcommand} has no ${flag}`)
}

/** Options of kubectl may come before the command. */
function commandBehindOptions(args: readonly string[]): string | undefined {
  return args.find((word) => !word.startsWith('-') && new RegExp(`^\\s+${word}\\b`, 'm').test(helpOf() ?? ''))
}

const helpTexts = new Map<string, string | null>()

function helpOf(subcommand = ''): string | null {
  if (!helpTexts.has(subcommand)) helpTexts.set(subcommand, readHelp(subcommand))
  return helpTexts.get(subcommand) ?? null
}

function readHelp(subcommand: string): string | null {
  if (subcommand !== '' && !new RegExp(`^\\s+${subcommand}\\b`, 'm').test(helpOf() ?? '')) return null
  const args = subcommand === '' ? ['--help'] : [subcommand, '--help']
  return execFileSync(process.execPath, ['apps/launcher/bin/tranche.mjs', ...args], { encoding: 'utf8' })
}
