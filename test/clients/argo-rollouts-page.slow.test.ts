import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HistoryReport, RolloutReport } from '@tranche/api-schema'
import { launch } from '@tranche/launcher'
import { resources } from '@tranche/sim-api'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { kubectlForTests } from '../../scripts/kubectl-for-tests.ts'
import { agentManifest, agentRollout, type Cluster, startCluster } from './cluster.ts'
import { type Programs, startPrograms } from './programs.ts'
import { runProgram } from './run-program.ts'

const page = readFileSync('docs/guides/argo-rollouts.md', 'utf8')
/** Cells of the table of commands: Argo Rollouts, tranche, and the difference. */
const rows = page
  .slice(page.indexOf('## Commands'), page.indexOf('## Fields'))
  .split('\n')
  .filter((line) => line.startsWith('| `') && !line.startsWith('| `kubectl argo'))
  .map((line) => line.split('|').slice(1, -1))
const withKubectl = kubectlForTests()
const isPaused = { replicas: 1, pause: {} }
const steps = [isPaused, { ...isPaused, replicas: 2 }, { replicas: '100%' }]
const rollout = { ...agentRollout, spec: { ...agentRollout.spec, strategy: { canary: { steps } } } }

let cluster: Cluster
let programs: Programs
/** Rows whose commands the test has run. */
const ran = new Set<string>()

beforeAll(async () => {
  cluster = await startCluster(3)
  programs = await startPrograms(cluster)
  const admin = cluster.simulator.clientFor({ name: 'admin' })
  await admin.create(resources.daemonSets, agentManifest('v1') as never)
  await admin.create({ group: 'rollouts.kruise.io', resource: 'rollouts' }, rollout as never)
})

afterAll(async () => {
  await programs.stop()
  await cluster.end()
})

it('the commands of docs/guides/argo-rollouts.md have the documented effects', { timeout: 240_000 }, async () => {
  expect(await ofPage('status NAME')).toMatchObject({ code: 0 })
  const file = join(cluster.folder, 'manifests.json')
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [agentManifest('v1'), rollout] }))
  expect(await ofPage('lint -f FILE', { FILE: file })).toMatchObject({ code: 0 })

  const image = { 'c=IMAGE': 'main=agent:v2' }
  expect(await ofPage('set image NAME c=IMAGE', image, 'tranche plan')).toMatchObject({ code: 0 })
  expect((await report()).images).toEqual(['agent:v1'])
  await setImage()
  expect(await ofPage('status NAME')).toMatchObject({ code: 3 })
  expect((await ofPage('list rollouts')).out).toMatch(/^agent +Waiting +1\/3/m)
  expect((await ofPage('get rollout NAME')).out).toMatch(/^default\/agent {3}Waiting/)
  const watched = await runProgram(process.execPath, ['apps/launcher/bin/tranche.mjs', ...wordsOf('get rollout NAME'), '-w'], {
    env: { KUBECONFIG: cluster.kubeconfig },
    until: (text) => text.includes('Waiting'),
  })
  expect(watched.stdout).toContain('Waiting')

  // promote in Argo Rollouts means one step.
  expect(await ofPage('promote NAME')).toMatchObject({ code: 0 })
  expect(await ofPage('status NAME')).toMatchObject({ code: 3 })
  expect((await report()).step).toMatchObject({ index: 2, state: 'StepPaused' })
  expect(await ofPage('pause NAME')).toMatchObject({ code: 0 })
  expect(await report()).toMatchObject({ paused: true })
  await tranche('resume', 'agent')

  expect(await ofPage('abort NAME')).toMatchObject({ code: 0 })
  expect(await ofPage('status NAME')).toMatchObject({ code: 1 })
  expect(await report()).toMatchObject({ outcome: 'RolledBack', images: ['agent:v1'] })
  await setImage()
  expect(await ofPage('status NAME')).toMatchObject({ code: 1 })
  expect(await report()).toMatchObject({ outcome: 'Failed', reason: 'RevisionHeld', nodes: { updated: 0 } })

  expect(await ofPage('retry rollout NAME')).toMatchObject({ code: 0 })
  expect(await ofPage('status NAME')).toMatchObject({ code: 3 })
  expect(await ofPage('promote NAME --full', {}, 'promote NAME --full')).toMatchObject({ code: 0 })
  expect(await ofPage('status NAME')).toMatchObject({ code: 0 })
  expect((await report()).images).toEqual(['agent:v2'])

  const { revisions } = JSON.parse((await tranche('history', 'agent', '-o', 'json')).out) as HistoryReport
  const number = revisions.find(({ images }) => images.includes('agent:v1'))?.number
  expect(await ofPage('undo NAME --to-revision=N', { N: String(number) })).toMatchObject({ code: 0 })
  expect(await ofPage('status NAME')).toMatchObject({ code: 3 })
  expect(await ofPage('promote NAME --full')).toMatchObject({ code: 0 })
  expect(await ofPage('status NAME')).toMatchObject({ code: 0 })
  expect((await report()).images).toEqual(['agent:v1'])
  expect(await ofPage('restart NAME')).toMatchObject({ code: 0 })
  expect(await ofPage('status NAME')).toMatchObject({ code: 3 })

  expect([...ran].toSorted()).toEqual(rows.map(([argo = '']) => firstSpan(argo)).toSorted())
})

interface Ran {
  readonly code: number
  readonly out: string
}

type Places = Readonly<Record<string, string>>

/** Runs the tranche command of the page for a command of Argo Rollouts. `begin` selects another code span of that row. */
function ofPage(argo: string, places: Places = {}, begin?: string): Promise<Ran> {
  return tranche(...wordsOf(argo, places, begin))
}

function wordsOf(argo: string, places: Places = {}, begin?: string): readonly string[] {
  const cells = rows.find(([first = '']) => firstSpan(first) === argo)
  if (cells === undefined) throw new Error(`the page has no row for ${argo}`)
  ran.add(argo)
  const spans = [
    ...cells
      .slice(1)
      .join(' ')
      .matchAll(/`([^`]+)`/g),
  ].map(([, span = '']) => span)
  const said = spans.find((span) => begin === undefined || span.startsWith(begin))
  if (said === undefined) throw new Error(`the row of ${argo} has no command`)
  const words = said.replace(/^tranche /, '').split(' ')
  const filled: Places = { NAME: 'agent', ...places }
  return words.map((word) => filled[word] ?? (word.startsWith('daemonset/') ? 'daemonset/agent' : word))
}

function firstSpan(cell: string): string {
  return /`([^`]+)`/.exec(cell)?.[1] ?? ''
}

/** Uses kubectl as the page says, if it is installed. */
async function setImage(): Promise<void> {
  const [program = '', ...args] = wordsOf('set image NAME c=IMAGE', { 'c=IMAGE': 'main=agent:v2' })
  expect(program).toBe('kubectl')
  if (withKubectl) expect(await runProgram(program, args, { env: { KUBECONFIG: cluster.kubeconfig } })).toMatchObject({ code: 0 })
  else await cluster.simulator.clientFor({ name: 'admin' }).update(resources.daemonSets, agentManifest('v2') as never)
}

async function report(): Promise<RolloutReport> {
  const { rollout: reported } = JSON.parse((await tranche('get', 'agent', '-o', 'json')).out) as { readonly rollout: RolloutReport }
  return reported
}

async function tranche(...args: readonly string[]): Promise<Ran> {
  let out = ''
  const quiet = { write: () => {} }
  const code = await launch(args, { out: { write: (text) => void (out += text) }, err: quiet, env: { KUBECONFIG: cluster.kubeconfig } })
  return { code, out }
}
