import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import type { Rollout } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import {
  createKubeClient,
  createUndiciExchange,
  type KubeClient,
  loadKubeConfig,
  resourcePaths,
  type UndiciExchange,
} from '@tranche/kube-client'
import type { DaemonSet } from '@tranche/kube-types'
import { launch } from '@tranche/launcher'
import { silentLogger } from '@tranche/telemetry'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

const key = { namespace: 'demo', name: 'node-agent' }
const jane = '--as jane --as-group night-shift --as-group system:masters'
let folder: string
let kubeconfig: string
let cluster: ChildProcess
let sockets: UndiciExchange
let client: KubeClient

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
  kubeconfig = join(folder, 'kubeconfig')
  const ready = join(folder, 'ready.json')
  const args = ['dev', '--nodes', '6', '--speed', '50', '--ready-file', ready, '--kubeconfig', kubeconfig]
  cluster = spawn(process.execPath, ['apps/launcher/bin/tranche.mjs', ...args], { stdio: 'ignore' })
  await vi.waitUntil(() => existsSync(ready), { timeout: 60_000, interval: 50 })
  sockets = createUndiciExchange(await loadKubeConfig({ clock: systemClock, path: kubeconfig, env: {} }))
  client = createKubeClient({ exchange: sockets.exchange, clock: systemClock, log: silentLogger, userAgent: 'kubectl/v1.36.2' })
})

afterAll(async () => {
  await sockets.close()
  const ended = new Promise((resolve) => cluster.on('exit', resolve))
  cluster.kill('SIGINT')
  await ended
  rmSync(folder, { recursive: true, force: true })
})

describe('a release controlled from the command line', () => {
  it('is done before a new version is applied', async () => {
    await expect(tranche('status node-agent --timeout 2m')).resolves.toMatchObject({ code: 0 })
    const list = await tranche('list -o json')
    expect(JSON.parse(list.out)).toMatchObject({ items: [{ namespace: 'demo', name: 'node-agent', outcome: 'Done' }] })
  })

  it('accepts the options of kubectl before the command too, and selects among all namespaces by label', async () => {
    await client.patch(resourcePaths.rollouts, key, { type: 'merge', body: { metadata: { labels: { team: 'storage' } } } })
    const named = { code: 0, out: 'rollout.rollouts.kruise.io/node-agent\n', err: '' }
    await expect(typed('-n demo --context tranche-dev -o name get node-agent')).resolves.toEqual(named)
    await expect(typed('list -A -l team=storage -o name')).resolves.toEqual(named)
    await expect(typed('get ds/node-agent -A -l team!=network -o name')).resolves.toEqual(named)
    await expect(typed('list -A -l team=network')).resolves.toMatchObject({
      out: '',
      err: 'No Rollouts with team=network in any namespace.\n',
    })
    await expect(typed('get -A -l team=network')).resolves.toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /^ROLLOUT_NOT_FOUND: there are no Rollouts in any namespace with the labels team=network\. [^\n]+\n$/,
      ) as string,
    })
    await expect(typed('list -l team=,=')).resolves.toMatchObject({ code: 1, err: expect.stringMatching(/^[A-Z_]+: [^\n]+\n$/) as string })
  })

  it('acts for the impersonated user', async () => {
    const refused = await tranche('list --as jane')
    expect(refused.err).toMatch(
      /^API_REFUSED: [^\n]*User "jane" cannot list resource[^\n]+ Ask the cluster administrator for this permission[^\n]+\n$/,
    )
    await expect(tranche(`list ${jane} -o name`)).resolves.toMatchObject({ code: 0 })
  })

  it('waits for a person after its first batch, and reports why', async () => {
    await setImage('v2')
    const { code, out } = await tranche('status node-agent --timeout 2m')
    expect(out).toMatch(/^demo\/node-agent {2}Waiting {2}step 1\/\d StepPaused {2}1\/6 updated/)
    expect(code).toBe(3)
    const tree = (await tranche('get')).out
    expect(tree).toContain('tranche approve node-agent -n demo')
    expect(tree).toMatch(/batch 1 {2}\S+ {2}now {2}1 available/)
  })

  it('is checked only once with a timeout of 0', async () => {
    await expect(tranche('status --timeout 0 -o name')).resolves.toEqual({
      code: 3,
      out: 'rollout.rollouts.kruise.io/node-agent\n',
      err: '',
    })
  })

  it.each([
    ['status --timeout 0', 3],
    ['status --timeout 2s', 3],
    ['status --timeout 0 --through-pauses', 2],
    ['status --timeout 2s --through-pauses', 2],
  ])('makes %s exit with %d in a pause', async (line, code) => {
    await expect(tranche(line)).resolves.toMatchObject({ code })
  })

  it('previews what a dry run would write, and writes nothing', async () => {
    expect((await tranche('pause node-agent --dry-run')).out).toBe(
      'demo/node-agent: pause would be accepted: nothing written (dryRun); otherwise spec.strategy.paused is set to true\n',
    )
    expect(JSON.parse((await tranche('get -o json')).out)).toMatchObject({ rollout: { paused: false } })
  })

  it('refuses an approval that is meant for another step', async () => {
    const { code, err } = await tranche('approve node-agent --expected-step 2')
    expect(err).toMatch(/^MOVED_ON: --expected-step 2: the action is meant for step 2, and [^\n]+\n$/)
    expect(code).toBe(1)
  })

  it('is explained, node by node', async () => {
    const { out } = await tranche('explain -o json')
    expect(JSON.parse(out)).toMatchObject({ subject: 'node-agent', rule: expect.any(String) as string })
    const missing = await tranche('explain node-01')
    expect(missing.err).toMatch(/^NODE_NOT_FOUND: [^\n]+ Did you mean node-\d+\? [^\n]+\n$/)
  })

  it('continues when it is approved, paused and resumed, and completes', async () => {
    const approve = 'approve node-agent --reason fine --idempotency-key run-7'
    expect((await tranche(approve)).out).toMatch(/^demo\/node-agent: approve acknowledged: step \d of \d /)
    expect(await tranche(approve)).toMatchObject({ code: 0, out: expect.stringMatching(/: approve already requested: /) as string })
    expect((await tranche(`pause node-agent --reason lunch --wait ${jane}`)).out).toMatch(/^demo\/node-agent: pause acknowledged: /)
    await expect(tranche('status node-agent --timeout 1m')).resolves.toMatchObject({ code: 3 })
    expect((await tranche('resume node-agent --wait')).out).toMatch(/^demo\/node-agent: resume acknowledged: /)
    await tranche('promote node-agent --wait')
    await expect(tranche('status node-agent --timeout 2m')).resolves.toMatchObject({ code: 0 })
  })

  it('records who requested which action', async () => {
    const { out } = await tranche('history')
    expect(out).toContain('approve at step 1')
    for (const word of ['pause', 'resume', 'fine', 'lunch', 'cli', 'jane']) expect(out).toContain(word)
  })

  it('shows what a revision has changed', async () => {
    const { out } = await tranche('diff node-agent 1 2')
    expect(out).toMatch(/^-\s+- ?image: .*:v1$|^-.*image: .*:v1$/m)
    expect(out).toMatch(/^\+.*image: .*:v2$/m)
    expect((await tranche('diff node-agent 1 9')).err).toMatch(
      /^REVISION_NOT_FOUND: the history has no revision 9\. Choose one of 2, 1; [^\n]+\n$/,
    )
  })

  it('fails if a version is bad, and is rolled back', async () => {
    await setImage('v3-bad-crash')
    await expect(tranche('status node-agent --timeout 2m')).resolves.toMatchObject({ code: 1 })
    const refused = await tranche('promote node-agent', 'yes\n')
    expect(refused.err).toMatch(
      /^ACTION_REJECTED: revision [0-9a-f]+ is stopped by a failure\. Run tranche retry node-agent -n demo to [^\n]+\n$/,
    )
    const asked = await tranche('abort node-agent', 'no\n')
    expect(asked.err).toMatch(
      /abort rolls \d nodes? back from revision \d+ \([0-9a-f]+, node-agent:v3-bad-crash\) to revision [\s\S]*abort demo\/node-agent\? \[y\/N\] Cancelled; nothing was changed\.\n$/,
    )
    expect(asked.code).toBe(1)
    expect((await tranche('abort node-agent --reason crashes --wait=60s')).out).toMatch(/^demo\/node-agent: abort acknowledged: /)
    await tranche('status node-agent --timeout 2m')
    expect((await tranche('get -o json')).out).toContain(':v2')
  })

  it('is neither undone nor rolled back if another version was applied during the prompt', async () => {
    const undone = await tranche('undo node-agent', answerAfter('v4'))
    expect(undone.err).toMatch(
      /undo restores the template of revision \d+ \([0-9a-f]+, node-agent:v1\), replacing revision \d+ \([0-9a-f]+, node-agent:v2\): \d+ nodes get it[\s\S]*\? \[y\/N\] MOVED_ON: the template of DaemonSet node-agent has changed from revision [\s\S]+\n$/,
    )
    expect(undone.code).toBe(1)
    await expect(tranche('status node-agent --timeout 2m')).resolves.toMatchObject({ code: 3 })
    const aborted = await tranche('abort node-agent', answerAfter('v5'))
    expect(aborted.err).toMatch(/\? \[y\/N\] MOVED_ON: the action is meant for revision [^\n]+\n$/)
    expect(aborted.code).toBe(1)
    expect((await tranche('get -o json')).out).toContain(':v5')
  })

  it('is undone only with the current revision as precondition', async () => {
    const { revisions } = JSON.parse((await tranche('history -o json')).out) as {
      readonly revisions: readonly { readonly revision: string }[]
    }
    const [present, before] = revisions.map(({ revision }) => revision)
    await expect(tranche(`undo node-agent --yes --revision ${before}`)).resolves.toMatchObject({
      code: 1,
      err: expect.stringMatching(/^MOVED_ON: /),
    })
    const undo = `undo node-agent --yes --revision ${present} --idempotency-key run-8`
    await expect(tranche(undo)).resolves.toMatchObject({ code: 0 })
    await expect(tranche(undo)).resolves.toMatchObject({ code: 0, out: expect.stringMatching(/: undo already requested: /) })
  })

  it('does not prompt for an unknown revision', async () => {
    const { code, err } = await tranche('undo node-agent --to-revision 9', 'y\n')
    expect(err).toMatch(/^REVISION_NOT_FOUND: --to-revision 9: there is no revision 9 in the history\. Name one of [^\n]+\n$/)
    expect(code).toBe(1)
  })

  it('stops reading a terminal after the answer, so that the command can exit', async () => {
    const terminal = Object.assign(new PassThrough(), { isTTY: true })
    terminal.write('no\n')
    const io = { out: { write: () => {} }, err: { write: () => {}, isTTY: true, columns: 80 }, env: { KUBECONFIG: kubeconfig } }
    await expect(launch('undo node-agent -n demo'.split(' '), { ...io, in: terminal })).resolves.toBe(1)
    expect(terminal.readableFlowing).toBe(false)
  })

  it.each(['list -v 6', 'list -v=6', '-v=6 list'])('logs requests without a token for %s', async (line) => {
    const { code, out, err } = await tranche(line)
    expect(err).toMatch(
      /^GET https:\/\/127\.0\.0\.1:\d+\/apis\/rollouts\.kruise\.io\/v1beta1\/namespaces\/demo\/rollouts\S* 200 in \d+ ms$/m,
    )
    expect([code, out.includes('node-agent'), err.includes('Bearer')]).toEqual([0, true, false])
    expect((await tranche('list -v 5')).err).toBe('')
  })

  it('suggests the command that starts a release for set image', async () => {
    const { code, err } = await tranche('set image daemonset/node-agent agent=node-agent:v9')
    expect([code, err]).toEqual([
      2,
      'OPTION_INVALID: tranche does not set images: the template belongs to the DaemonSet. Run kubectl set image daemonset/NAME agent=node-agent:v9, which starts a release; tranche plan ROLLOUT --image agent=node-agent:v9 simulates it first.\n',
    ])
  })

  it('rejects each command for a Rollout of a Deployment in one line with the reason', async () => {
    const spec = {
      workloadRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      strategy: { canary: { steps: [{ replicas: 1 }] } },
    }
    await client.create(resourcePaths.rollouts, {
      apiVersion: 'rollouts.kruise.io/v1beta1',
      kind: 'Rollout',
      metadata: { ...key, name: 'web' },
      spec,
    })
    expect((await tranche('plan web')).err).toMatch(/^WORKLOAD_NOT_FOUND: [^\n]+\n$/)
    expect((await tranche('abort web', 'yes\n')).err).toMatch(/^ACTION_REJECTED: spec\.workloadRef names a Deployment[^\n]+\n$/)
    expect((await tranche('get web')).out).toMatch(/^demo\/web {3}Not managed\n/)
    await client.delete(resourcePaths.rollouts, { ...key, name: 'web' })
  })

  it('ends -w at the first permanent error', async () => {
    const { code, err } = await tranche('get nothing -w')
    expect(err).toMatch(/^ROLLOUT_NOT_FOUND: there is no Rollout nothing in namespace demo\. tranche list shows all of them\.\n$/)
    expect(code).toBe(1)
  })
})

async function setImage(tag: string): Promise<void> {
  const body = { spec: { template: { spec: { containers: [{ name: 'agent', image: `registry.example/node-agent:${tag}` }] } } } }
  await client.patch(resourcePaths.daemonSets, key, { type: 'strategic', body })
}

interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** A user who confirms after another user has applied a version and the Rollout has observed it. */
async function* answerAfter(tag: string): AsyncGenerator<string> {
  await setImage(tag)
  await vi.waitUntil(isSeen, { timeout: 20_000, interval: 50 })
  yield 'yes\n'
}

async function isSeen(): Promise<boolean> {
  const [{ metadata }, { status }] = await Promise.all([
    client.get<DaemonSet>(resourcePaths.daemonSets, key),
    client.get<Rollout>(resourcePaths.rollouts, key),
  ])
  return (status?.canaryStatus?.observedWorkloadGeneration ?? 0) >= (metadata.generation ?? 0)
}

/** @param answer text that the user types at the prompt */
function tranche(line: string, answer?: string | AsyncIterable<string>): Promise<Ran> {
  return typed(`${line} -n demo`, answer)
}

async function typed(line: string, answer?: string | AsyncIterable<string>): Promise<Ran> {
  const texts = { out: '', err: '' }
  const code = await launch(line.split(' '), {
    out: { write: (text) => void (texts.out += text) },
    err: { write: (text) => void (texts.err += text), isTTY: answer !== undefined, columns: 200 },
    env: { KUBECONFIG: kubeconfig },
    ...(answer !== undefined && { in: Object.assign(Readable.from(typeof answer === 'string' ? [answer] : answer), { isTTY: true }) }),
  })
  return { code, ...texts }
}
