import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse, stringify } from 'yaml'
import { kubectlForTests } from '../../../scripts/kubectl-for-tests.ts'

interface Job {
  readonly lines: readonly string[]
  readonly settings: Readonly<Record<string, string>>
}

/** Variables of the jobs that the pipeline provides. */
const known: Readonly<Record<string, string>> = {
  'github.server_url': 'https://git.example',
  'github.repository': 'platform/agents',
  'github.run_id': '7',
  CI_JOB_URL: 'https://ci.example/jobs/8',
}

let folder: string
let env: Record<string, string>
let cluster: ChildProcess

const isMissing = !kubectlForTests()

describe.skipIf(isMissing)('the pipelines of examples/ci, in a separate checkout', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
    const [ready, kubeconfig, bin] = ['ready.json', 'kubeconfig', 'bin'].map((name) => join(folder, name)) as [string, string, string]
    const args = ['dev', '--no-demo', '--nodes', '6', '--speed', '50', '--ready-file', ready, '--kubeconfig', kubeconfig]
    cluster = spawn(process.execPath, ['apps/launcher/bin/tranche.mjs', ...args], { stdio: 'ignore' })
    cpSync('examples/ci', join(folder, 'examples/ci'), { recursive: true })
    mkdirSync(join(folder, 'deploy'))
    mkdirSync(bin)
    const starter = `#!/bin/sh\nexec '${process.execPath}' '${resolve('apps/launcher/bin/tranche.mjs')}' "$@"\n`
    writeFileSync(join(bin, 'tranche'), starter, { mode: 0o755 })
    env = { PATH: [bin, process.env['PATH']].join(delimiter), HOME: folder, KUBECONFIG: kubeconfig }
    await vi.waitUntil(() => existsSync(ready), { timeout: 60_000, interval: 50 })
    execFileSync('kubectl', ['create', 'namespace', 'demo'], { env, stdio: 'ignore' })
  })

  afterAll(async () => {
    const ended = new Promise((done) => cluster.on('exit', done))
    cluster.kill('SIGINT')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })

  it('apply a new DaemonSet, and end when it runs', async () => {
    const { code, err } = await release('v1')
    expect(err).toContain('release: released\n')
    expect(code).toBe(0)
  })

  it('release a version as a job of GitHub Actions: apply, wait, approve, end', async () => {
    const { code, err } = await play(gitHubJob(), 'v2')
    expect(err).toContain('release: released\n')
    expect(code).toBe(0)
    expect((await tranche('history')).out).toMatch(/approve at step 1 .* https:\/\/git\.example\/platform\/agents\/actions\/runs\/7/)
  })

  it('leave the decision to a person if configured so', async () => {
    await expect(release('v3', { APPROVE: 'no' })).resolves.toMatchObject({ code: 3 })
  })

  it('roll nothing back when their job is cancelled: they print how to continue the release, and end by the signal', async () => {
    const asked = join(folder, 'asked')
    const settings = { NAMESPACE: 'demo', CHECK: `: >'${asked}'; exec sleep 600` }
    const child = spawn('bash', ['-c', 'exec examples/ci/release.sh deploy/ node-agent'], {
      env: { ...env, ...settings },
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const ended = once(child, 'exit')
    const said = text(child.stderr)
    await vi.waitUntil(() => existsSync(asked), { timeout: 60_000, interval: 50 })
    child.kill('SIGTERM')
    await expect(ended).resolves.toEqual([null, 'SIGTERM'])
    const [canary] = await revisions()
    expect(await said).toMatch(/^release: stopped by SIGTERM: the release continues to the next step that waits for approval\. /m)
    expect(await said).toContain(`; to roll it back: tranche abort node-agent --namespace=demo --revision ${canary}\n`)
    expect(await images()).toContain('registry.example/node-agent:v3')
  })

  it('roll a version back when their check fails', async () => {
    const { code, err } = await release('v4', { CHECK: 'test 1 = 2' })
    expect(err).toMatch(/^release: the check failed \(test 1 = 2\): rolling revision [0-9a-f]+ back$/m)
    expect(code).toBe(1)
    expect(await images()).toEqual(['registry.example/node-agent:v2'])
  })

  it('approve no step that their check has not covered: if a person was faster, a person decides', async () => {
    const quicker = 'tranche approve node-agent -n demo --expected-step $STEP --wait; tranche status node-agent -n demo --timeout 1m; true'
    const { code, err } = await release('v8', { CHECK: quicker }, [
      { replicas: 1, pause: {} },
      ...twoSteps.with(0, { replicas: 3, pause: {} }),
    ])
    expect(err).toMatch(
      /^MOVED_ON: --expected-step 1: the action is meant for step 1, and the release of revision [0-9a-f]+ is at step 2 /m,
    )
    expect(err).toMatch(/^release: a person has to decide$/m)
    expect(code).toBe(3)
    await tranche('abort --yes --wait=1m')
    await expect(tranche('status --timeout 1m')).resolves.toMatchObject({ code: 1 })
  })

  it('leave a version that another user applied meanwhile, and the decision, to a person', async () => {
    const overtakes =
      'kubectl -n demo set image ds/node-agent agent=registry.example/node-agent:v7; tranche status node-agent -n demo --timeout 1m; false'
    const { code, err } = await release('v6', { CHECK: overtakes })
    expect(err).toMatch(/^MOVED_ON: --revision [0-9a-f]+: the action is meant for revision [0-9a-f]+, and the release of revision /m)
    expect(err).toMatch(/^release: revision [0-9a-f]+ was not rolled back: a person has to decide$/m)
    expect(code).toBe(3)
    expect(await images()).toContain('registry.example/node-agent:v7')
  })

  it('roll back a version that fails, as a job of GitLab, and fail by their exit code', async () => {
    const { code, err } = await play(gitLabJob(), 'v5-bad-crash')
    expect(err).toMatch(/^release: the release failed: rolling revision [0-9a-f]+ back$/m)
    expect(code).toBe(1)
    expect(await images()).toEqual(['registry.example/node-agent:v2'])
    expect((await tranche('history')).out).toMatch(/abort .* https:\/\/ci\.example\/jobs\/8: the release failed/)
  })
})

it('a pipeline without tranche on its PATH applies nothing, and says so', () => {
  const [bin, applied] = [mkdtempSync(join(tmpdir(), 'tranche-test-')), 'applied']
  writeFileSync(join(bin, 'kubectl'), `#!/bin/sh\n: >'${join(bin, applied)}'\n`, { mode: 0o755 })
  const { status, stderr } = spawnSync('/bin/bash', ['examples/ci/release.sh', 'examples/', 'node-agent'], {
    env: { PATH: bin },
    encoding: 'utf8',
  })
  expect([status, stderr, existsSync(join(bin, applied))]).toEqual([4, 'release: tranche is not on the PATH: nothing was applied\n', false])
  rmSync(bin, { recursive: true })
})

/** Runs each line of a job as its runner would, until one fails. */
async function play({ lines, settings }: Job, tag: string): Promise<Ended> {
  writeManifests(tag)
  let ended: Ended = { code: 0, out: '', err: '' }
  for (const line of lines) {
    ended = await bash(line, settings)
    if (ended.code !== 0) break
  }
  return ended
}

async function release(tag: string, settings: Readonly<Record<string, string>> = {}, steps?: readonly object[]): Promise<Ended> {
  writeManifests(tag, steps)
  return bash('examples/ci/release.sh deploy/ node-agent', { NAMESPACE: 'demo', TIMEOUT: '2m', ...settings })
}

function gitHubJob(): Job {
  const workflow = parse(readFileSync('examples/ci/github-actions.yaml', 'utf8')) as {
    readonly jobs: {
      readonly release: { readonly steps: readonly { readonly run?: string; readonly env?: Readonly<Record<string, string>> }[] }
    }
  }
  const steps = workflow.jobs.release.steps.filter(({ run }) => run !== undefined)
  return {
    lines: steps.map(({ run = '' }) => run),
    settings: filledIn(Object.assign({}, ...steps.map((step) => step.env ?? {})) as Record<string, string>, /\$\{\{ (\S+) \}\}/g),
  }
}

function gitLabJob(): Job {
  const jobs = parse(readFileSync('examples/ci/gitlab-ci.yml', 'utf8')) as Readonly<
    Record<string, { readonly script: readonly string[]; readonly variables: Readonly<Record<string, string>> }>
  >
  const [{ script, variables }] = Object.values(jobs) as [{ script: readonly string[]; variables: Readonly<Record<string, string>> }]
  return { lines: script, settings: filledIn(variables, /\$(\w+)/g) }
}

function filledIn(values: Readonly<Record<string, string>>, names: RegExp): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value.replace(names, (_all, word: string) => known[word] ?? `no ${word}`)]),
  )
}

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

async function bash(line: string, settings: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const child = spawn('bash', ['-c', line], { env: { ...env, ...settings }, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((done) => child.on('exit', done)),
  ])
  return { code, out, err }
}

function tranche(words: string): Promise<Ended> {
  return bash(`tranche ${words} node-agent -n demo`)
}

/** Newest first. */
async function revisions(): Promise<readonly string[]> {
  const history = JSON.parse((await tranche('history -o json')).out) as { readonly revisions: readonly { readonly revision: string }[] }
  return history.revisions.map(({ revision }) => revision)
}

async function images(): Promise<readonly string[]> {
  const { revisions } = JSON.parse((await tranche('get -o json')).out) as {
    readonly revisions: readonly { readonly nodes: number; readonly images: readonly string[] }[]
  }
  return revisions.filter(({ nodes }) => nodes > 0).flatMap((revision) => revision.images)
}

const twoSteps: readonly object[] = [{ replicas: 1, pause: {} }, { replicas: '100%' }]

/** The Rollout is applied first: once the template is, a release is under way, and the number of its steps stays. */
function writeManifests(tag: string, steps = twoSteps): void {
  const metadata = { name: 'node-agent', namespace: 'demo' }
  const labels = { app: 'node-agent' }
  const daemonSet = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata,
    spec: {
      selector: { matchLabels: labels },
      updateStrategy: { type: 'OnDelete' },
      template: { metadata: { labels }, spec: { containers: [{ name: 'agent', image: `registry.example/node-agent:${tag}` }] } },
    },
  }
  const rollout = {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'Rollout',
    metadata,
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'node-agent' },
      strategy: { canary: { steps } },
    },
  }
  writeFileSync(join(folder, 'deploy/1-rollout.yaml'), stringify(rollout))
  writeFileSync(join(folder, 'deploy/2-daemonset.yaml'), stringify(daemonSet))
}
