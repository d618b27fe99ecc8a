import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { eventReasons, stalledReasons } from '../../packages/words/api-schema/src/index.ts'

const sources = execFileSync('git', ['ls-files', 'packages/*/*/src/*.ts', 'apps/*/src/*.ts'], { encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && !/^packages\/(simulator|harness|ports\/[a-z]+-conformance)\//.test(path))
  .map((path) => ({ path, text: readFileSync(path, 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '') }))

describe('events', () => {
  /** Files that create events, besides those for the reasons of Stalled. */
  const makers = [
    'packages/shells/controllers/src/analysis-pass.ts',
    'packages/shells/controllers/src/release-pass.ts',
    'packages/shells/controllers/src/rollout-pass.ts',
    'packages/core/planner/src/rollout/plan-binding.ts',
    'packages/core/planner/src/rollout/held/revert-event.ts',
    'packages/core/planner/src/rollout/actions/rollout-events.ts',
    'packages/clients/release-client/src/record-event.ts',
    'packages/clients/node-checks/src/late-drain-event.ts',
  ]

  it('are documented with all existing reasons in their order, and no other', () => {
    const page = readFileSync('docs/operations/events.md', 'utf8')
    expect([...page.matchAll(/^\| `([A-Z]\w+)` \|/gm)].map(([, reason]) => reason)).toEqual(eventReasons)
  })

  it('are created with each of these reasons, and with no other', () => {
    const texts = sources.filter(({ path }) => makers.includes(path)).map(({ text }) => text)
    const made = texts.flatMap((text) => [
      ...[...text.matchAll(/\breason: '([A-Z]\w+)'/g)].map(([, reason]) => reason),
      ...[...text.matchAll(/\breason: .*\? '([A-Z]\w+)' : '([A-Z]\w+)'/g)].flatMap(([, one, other]) => [one, other]),
      ...[...text.matchAll(/'(?:Normal|Warning)', '([A-Z]\w+)'/g)].map(([, reason]) => reason),
    ])
    expect(made.length).toBeGreaterThan(20)
    expect([...new Set([...made, ...stalledReasons])].toSorted()).toEqual([...new Set(eventReasons)].toSorted())
  })

  it('are created nowhere else', () => {
    const found = sources.filter(({ text }) => /\bevents\.record\(|type: '(Normal|Warning)'/.test(text)).map(({ path }) => path)
    expect(found.filter((path) => !makers.includes(path))).toEqual(['packages/core/planner/src/rollout/view/rollout-plan.ts'])
  })
})

describe('fields of log lines', () => {
  const page = readFileSync('docs/operations/logs.md', 'utf8')
  const listed = [...page.slice(page.indexOf('| field |')).matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, field]) => field),
  )

  it('are those of docs/operations/logs.md, and all of those are used', () => {
    const written = new Set(sources.flatMap(({ text }) => fieldsIn(text)))
    expect([...written].toSorted()).toEqual(listed.toSorted())
  })
})

/** Names of fields in the first argument of log calls, and of objects with field-like names. */
function fieldsIn(text: string): readonly string[] {
  const calls = text.matchAll(
    /\blog\.(?:debug|info|warn|error|child)\(\s*(?=\{)|\bfields(?:: LogFields)? = (?=\{)|\bwhat: (?=\{ \w+)|\bwho = (?=\{)/g,
  )
  return [...calls].flatMap(({ index, 0: begin }) => namesIn(text.slice(index + begin.length)))
}

/** Names of the members of the object literal at the start of a text, without nested ones. */
function namesIn(text: string): readonly string[] {
  const names: string[] = []
  let depth = 0
  let isAtName = false
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] ?? ''
    if ('{[('.includes(letter)) depth++
    if ('}])'.includes(letter)) depth--
    if (depth === 0) return names
    if (depth === 1 && isAtName) {
      const name = /^\s*(\w+)\s*[:,}\s]/.exec(text.slice(at))?.[1]
      if (name !== undefined) names.push(name)
    }
    isAtName = depth === 1 && (letter === '{' || letter === ',')
  }
  return names
}
