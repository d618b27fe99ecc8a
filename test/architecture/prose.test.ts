import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findingsIn } from '../../scripts/prose/findings.ts'

/** Sources by the rule that `bad` breaks; `good` has the same meaning. */
const planted: Readonly<Record<string, { file?: string; bad: string; good: string; found: string }>> = {
  'a pronoun takes the place of the actor': {
    bad: '/** Whoever dies on the way is resumed. */',
    good: '/** Crash-safe: the next pass resumes. */',
    found: 'Whoever',
  },
  'a doc comment uses an archaism': {
    bad: '/**\n * Attempts after which a write\n * is judged anew.\n */',
    good: '/**\n * Attempts after which a write\n * is judged again.\n */',
    found: 'anew',
  },
  'a line comment uses a coined word': {
    bad: '// One wish at a time:\n// the oldest first.',
    good: '// One action at a time:\n// the oldest first.',
    found: 'wish',
  },
  'a test name has a coined word': {
    bad: "it.each(cases)('mends %s', run)",
    good: "it.each(cases)('fixes %s', run)",
    found: 'mends',
  },
  'an error message is inverted': {
    bad: "throw new Error('Credentials for ' + server + ' cannot be had at the moment')",
    good: "throw new Error('Credentials for ' + server + ' are currently unavailable')",
    found: 'be had',
  },
  'an option help text starts with a word of another language': {
    bad: "option('--identity', 'begin of the name ' + 'of this process')",
    good: "option('--identity', 'prefix of the name ' + 'of this process')",
    found: 'begin of',
  },
  'a doc comment has a clause as its subject': {
    bad: '/** What was asked of receivers. */',
    good: '/** Notification to receivers. */',
    found: 'What was asked of receivers.',
  },
  'a page has a clause as its subject': {
    file: 'docs/page.md',
    bad: 'Steps are in order. What counts is the first one.',
    good: 'Steps are in order. The first one counts.',
    found: 'What counts is the first one.',
  },
  'a page has a phrase across two lines': {
    file: 'docs/page.md',
    bad: '- After a crash the release goes\n  on.',
    good: '- After a crash the release\n  continues.',
    found: 'goes on',
  },
  'a sentence is too long': {
    file: 'docs/page.md',
    bad: `The controller ${'reads the next node and '.repeat(7)}stops.`,
    good: `The controller ${'reads the next node. It '.repeat(7)}stops.`,
    found: 'The controller reads the next node… (38 words)',
  },
  'a comment of the values has a coined word': {
    file: 'charts/tranche/values.yaml',
    bad: '# Certificate that the leader takes back.\ncertificate: {}',
    good: '# Certificate that the leader revokes.\ncertificate: {}',
    found: 'takes back',
  },
  'a description of the values has a coined word': {
    file: 'charts/tranche/values.schema.json',
    bad: '{ "description": "limits of outgoing requests" }',
    good: '{ "description": "limits of egress requests" }',
    found: 'outgoing',
  },
  'a description of a definition has a coined word': {
    file: 'packages/api-schema/crds/a.yaml',
    bad: 'properties:\n  phase:\n    description: Phase that is contested.\n    type: string\n',
    good: 'properties:\n  phase:\n    description: Phase that has drifted.\n    type: string\n',
    found: 'contested',
  },
  'a log message is composed': {
    bad: "this.#log.info({ node }, 'deleted pod of ' + node)",
    good: "this.#log[level]({ node }, isLast ? 'deleted last pod' : 'deleted pod')",
    found: "'deleted pod of ' + node",
  },
}

describe('the prose check', () => {
  it.each(Object.entries(planted))(
    'fails where %s, and passes its good version',
    (_name, { file = 'packages/a/src/a.ts', bad, good, found }) => {
      expect(findingsIn(file, bad).map((finding) => finding.found)).toContain(found)
      expect(findingsIn(file, good)).toEqual([])
    },
  )

  it('names the line and the replacement', () => {
    const source = '/**\n * Reads nodes.\n *\n * Their desk is\n * closed.\n */'
    expect(findingsIn('a.ts', source)).toEqual([{ file: 'a.ts', line: 4, rule: 'word', found: 'desk', advice: 'release client' }])
  })

  it.each([
    ['code spans', 'docs/page.md', 'Set `wish` or\n\n```yaml\nwish: nobody anew\n```\n'],
    ['names in quotes', 'docs/page.md', 'The user "nobody" is known.'],
    ['addresses and paths', 'docs/page.md', 'See [events](desk/wish.md) and https://example.com/wish.'],
    ['identifiers and links', 'a.ts', '/** Reads {@link wish} into wishOfRollout for steering.ts. */'],
    ['names of parameters', 'a.ts', '/**\n * Reads nodes.\n * @param wish the action\n */'],
    ['strings that are names', 'a.ts', "import { desk } from './desk.ts'\nconst key = ['wish', 'tranche.dev/take-back']"],
    ['kept words', 'a.ts', '/** Returns void of course; told apart from a permit. */'],
    ['questions', 'docs/page.md', 'What is a permit?'],
    ['list items, cells and headings, each as a sentence of its own', 'docs/page.md', '## One two three\n| four | five |\n'.repeat(20)],
    ['sentences that start in lower case', 'a.ts', `/** ${'tranche waits for all of the nodes. '.repeat(9)}*/`],
    ['options in a comment, one per line', 'a.yaml', '# How updates are admitted.\n# none: they are not.\n'.repeat(9)],
    ['code that a deliberate fault quotes', 'scripts/mutants/a.ts', "const mutant = { find: 'return rollback ? course : wish' }"],
    ['superseded decision records', 'docs/contribute/adr/0001-a.md', '- Status: superseded by 0002\n\nNobody waits.'],
  ])('accepts %s', (_name, file, source) => {
    expect(findingsIn(file, source)).toEqual([])
  })
})

describe('the baseline', () => {
  it.each([
    ['passes where the count is as before', 1, 0, ''],
    ['fails where a count has risen, and lists what changed', 0, 1, 'docs/a.md:1: wish — action\ndocs: 1 findings, 0 before'],
    ['fails where a count has fallen, and says how to lower it', 2, 1, 'lower the baseline with pnpm check:prose --update'],
  ])('%s', (_name, docs, exitCode, text) => {
    const outcome = checkRepository({ 'docs/a.md': 'One wish.' }, { docs })
    expect(outcome.output).toContain(text)
    expect(outcome.exitCode).toBe(exitCode)
  })

  it('is lowered by --update', () => {
    expect(checkRepository({ 'docs/a.md': 'One wish.' }, { docs: 2 }, '--update')).toMatchObject({ exitCode: 0, baseline: { docs: 1 } })
  })

  it('follows a file to another folder with --update', () => {
    const outcome = checkRepository({ 'packages/b/README.md': 'One wish.' }, { docs: 1 }, '--update')
    expect(outcome).toMatchObject({ exitCode: 0, baseline: { 'packages/b': 1 } })
  })

  it('is not raised by --update', () => {
    expect(checkRepository({ 'docs/a.md': 'One wish.' }, {}, '--update')).toMatchObject({ exitCode: 1, baseline: {} })
  })

  it('does not excuse a log message', () => {
    const outcome = checkRepository({ 'packages/a/src/a.ts': 'log.info({}, message)\n' }, {})
    expect(outcome).toMatchObject({ exitCode: 1 })
    expect(outcome.output).toContain('packages/a/src/a.ts:1: message — a constant message')
  })
})

/** Runs the check in a repository of these files, whose last commit wrote the baseline. */
function checkRepository(files: Readonly<Record<string, string>>, baseline: Readonly<Record<string, number>>, ...options: string[]) {
  const cwd = mkdtempSync(join(tmpdir(), 'tranche-prose-'))
  const baselineFile = join(cwd, 'scripts/prose-baseline.json')
  try {
    write(baselineFile, JSON.stringify(baseline))
    git(cwd, 'init', '-q')
    git(cwd, 'add', '.')
    git(cwd, '-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-q', '-m', 'test: begin')
    for (const [file, text] of Object.entries(files)) write(join(cwd, file), text)
    const { status, stdout, stderr } = spawnSync(process.execPath, [resolve('scripts/prose.ts'), ...options], { cwd, encoding: 'utf8' })
    return { exitCode: status, output: stdout + stderr, baseline: JSON.parse(readFileSync(baselineFile, 'utf8')) as unknown }
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

function git(cwd: string, ...args: readonly string[]): void {
  execFileSync('git', args, { cwd, stdio: 'ignore', env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' } })
}
