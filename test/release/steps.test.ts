import { describe, expect, it } from 'vitest'
import { type ReleaseTools, releaseSteps } from '../../scripts/release/release-steps.ts'
import { releasePhases, runSteps, type ReleaseStep } from '../../scripts/release/run-steps.ts'

/** Tools in the order in which a release uses them. Those of the last five publish. */
const order: readonly (keyof ReleaseTools)[] = [
  'checkVersion',
  'checkCredentials',
  'checkPrograms',
  'buildImage',
  'buildArchives',
  'buildChart',
  'buildNpm',
  'buildManifests',
  'buildBills',
  'rehearseImage',
  'rehearseChart',
  'rehearseCommandLine',
  'writeChecksums',
  'signParts',
  'verifyParts',
  'pushParts',
  'draftPage',
  'tagParts',
  'publishNpm',
  'publishPage',
]
const publishing = order.slice(-5)

describe('a release', () => {
  it('checks, builds, rehearses and signs everything before it publishes, and shows the page last', async () => {
    const { calls, lines } = await play()
    expect(calls).toEqual(order)
    expect(lines).toHaveLength(order.length)
  })

  it.each(order)('stops at a failing %s, and does nothing after it', async (failing) => {
    const { calls, message } = await play(failing)
    expect(calls).toEqual(order.slice(0, order.indexOf(failing) + 1))
    expect(message).toContain(`failed: no ${failing}`)
  })

  it.each(order.filter((name) => !publishing.includes(name)))('publishes nothing if %s fails, and says so', async (failing) => {
    const { calls, message } = await play(failing)
    expect(calls.filter((name) => publishing.includes(name))).toEqual([])
    expect(message).toContain('Nothing was published.')
  })

  it('says what is published if a later step fails, and that the same command continues', async () => {
    const { message } = await play('publishNpm')
    expect(message).toContain(
      'Published so far: image, chart, draft, tags. Perhaps published in part: npm package. Run the same command again',
    )
  })
})

it.each(publishing)('never says that nothing was published once %s has begun', async (failing) => {
  const { message } = await play(failing)
  expect(message).not.toContain('Nothing was published')
  expect(message).toContain('Perhaps published in part: ')
})

describe('runSteps', () => {
  it('prints one line for each step, with its time', async () => {
    const lines: string[] = []
    const times = [1_000, 1_000, 2_500, 2_500]
    const step: ReleaseStep = { phase: 'build', name: 'image', run: () => Promise.resolve('two architectures') }
    expect(await runSteps([step], { now: () => times.shift() ?? 0, print: (line) => lines.push(line) })).toBe(1_500)
    expect(lines).toEqual(['build     image               1.5 s  two architectures'])
  })

  it('rejects a step behind one of a later phase before it runs any', async () => {
    const ran: string[] = []
    const step = (phase: ReleaseStep['phase']): ReleaseStep => ({ phase, name: phase, run: async () => (ran.push(phase), '') })
    await expect(runSteps([step('publish'), step('sign')], { now: () => 0, print: () => {} })).rejects.toThrow(
      'is behind one of a later phase',
    )
    expect(ran).toEqual([])
    expect(releasePhases.at(-1)).toBe('publish')
  })
})

/** Runs a release with tools that only note their calls; one of them may fail. */
async function play(
  failing?: keyof ReleaseTools,
): Promise<{ calls: readonly (keyof ReleaseTools)[]; lines: readonly string[]; message: string }> {
  const calls: (keyof ReleaseTools)[] = []
  const lines: string[] = []
  const note = (name: keyof ReleaseTools) => async (): Promise<string> => {
    calls.push(name)
    if (name === failing) throw new Error(`no ${name}`)
    return name
  }
  const tools = Object.fromEntries(order.map((name) => [name, note(name)])) as unknown as ReleaseTools
  const ports = { now: () => 0, print: (line: string) => void lines.push(line) }
  const message = await runSteps(releaseSteps(tools), ports).then(
    () => '',
    (error: Error) => error.message,
  )
  return { calls, lines, message }
}
