import { once } from 'node:events'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { judge, readWithDeliveries } from '@tranche/recording'
import type { FaultInjector } from '@tranche/sim-api'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { agentManifest, type Cluster, startCluster } from '../clients/cluster.ts'
import { runProgram } from '../clients/run-program.ts'
import { programs } from './chart.ts'
import { type Image, unpackImage } from './image.ts'
import { type RunningContainer, runContainer, whyNoContainers } from './pods.ts'

const missing = programs === null ? 'kubectl is not installed' : whyNoContainers()
if (missing !== null && process.env['CI'] !== undefined) throw new Error(`${missing}; under CI no suite is skipped`)

type Call = Parameters<NonNullable<FaultInjector['onRequest']>>[0]

/** How long a process may take to end, in milliseconds. */
const END_MS = 10_000
const account = 'tranche'
const lines: string[] = []
let image: Image
let cluster: Cluster
/** Sees each call to the API server, and may inject a fault. */
let onCall: (call: Call) => ReturnType<NonNullable<FaultInjector['onRequest']>> = () => undefined

describe.skipIf(missing !== null)('the image', () => {
  beforeAll(async () => {
    image = await unpackImage()
    cluster = await startCluster(8, { faults: { onRequest: (call) => onCall(call) }, record: (line) => void lines.push(line) })
  }, 240_000)
  afterAll(async () => {
    await cluster?.end()
    image?.remove()
  })

  it('has no shell and no package manager, and nothing that its user may write to but /tmp', () => {
    const programs = image.files.filter(({ mode, content }) => content !== undefined && (mode & 0o111) !== 0).map(({ path }) => path)
    expect(programs.filter((path) => !/\.so[.\d]*$/.test(path))).toEqual([
      'opt/tranche/bin/compile-cache.mjs',
      'opt/tranche/bin/kubectl_complete-tranche.mjs',
      'opt/tranche/bin/tranche.mjs',
      'usr/bin/node',
      'usr/local/bin/tranche',
    ])
    expect(image.files.filter(({ mode, target }) => target === undefined && (mode & 0o002) !== 0).map(({ path }) => path)).toEqual(['tmp'])
  })

  it('has the licence of everything that is not Tranche, and lists it in its bill of materials', () => {
    const paths = image.files.map(({ path }) => path)
    expect(paths).toEqual(
      expect.arrayContaining([
        'opt/tranche/THIRD-PARTY-LICENSES',
        ...['libc6/copyright', 'gcc-12-base/copyright', 'nodejs/LICENSE'].map((path) => `usr/share/doc/${path}`),
      ]),
    )
    const bill = image.files.find(({ path }) => path === 'usr/share/doc/tranche/sbom.cdx.json')?.content?.toString() ?? ''
    const { components } = JSON.parse(bill) as { readonly components: readonly { readonly name: string; readonly licenses?: object }[] }
    expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining(['node', 'libc6', 'libstdc++6', 'libgcc-s1', 'fastify']))
    expect(components.filter(({ licenses }) => licenses === undefined)).toEqual([])
  })

  it('has less than 10 MB of Tranche', () => {
    const files = readdirSync(image.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
    expect(bytes).toBeLessThan(10e6)
  })

  it('has only texts with one byte per character, which Node.js keeps in that form', () => {
    const texts = readdirSync(join(image.folder, 'lib')).filter((name) => name.endsWith('.mjs'))
    expect(texts.length).toBeGreaterThan(10)
    expect(texts.filter((name) => /[^\0-\x7f]/.test(readFileSync(join(image.folder, 'lib', name), 'utf8')))).toEqual([])
  })

  it('lists every library in it, with version and licence, in a bill of materials', () => {
    const { bomFormat, components } = JSON.parse(readFileSync(join(image.folder, 'sbom.cdx.json'), 'utf8')) as {
      readonly bomFormat: string
      readonly components: readonly {
        readonly name: string
        readonly group?: string
        readonly version: string
        readonly licenses?: object
      }[]
    }
    expect(bomFormat).toBe('CycloneDX')
    const named = components.map(({ group, name, version }) => `${group === undefined ? '' : `${group}/`}${name}@${version}`)
    const { catalog } = parse(readFileSync('pnpm-workspace.yaml', 'utf8')) as { readonly catalog: Readonly<Record<string, string>> }
    const expected = ['@kubernetes/client-node', 'bullmq', 'fastify', 'ioredis', 'undici', 'zod'].map((name) => `${name}@${catalog[name]}`)
    expect(named).toEqual(expect.arrayContaining(expected))
    expect(components.filter(({ licenses }) => licenses === undefined)).toEqual([])
  })

  it('evaluates conditions and checks manifests in threads from files of the image', async () => {
    const lib = join(image.folder, 'lib')
    const chunks = readdirSync(lib).filter((name) => name.endsWith('.mjs'))
    // With or without the file extension: the API adds it when it starts its thread.
    const named = (file: string): boolean => {
      const quoted = new RegExp(`["'\`](\\./)?${file.replace('.mjs', '')}(\\.mjs)?["'\`]`)
      return chunks.some((name) => name !== file && quoted.test(readFileSync(join(lib, name), 'utf8')))
    }
    expect(
      ['judge-worker.mjs', 'validate-worker.mjs', 'plan-worker.mjs'].filter((file) => chunks.includes(file) && named(file)),
    ).toHaveLength(3)
    const thread = new Worker(join(lib, 'judge-worker.mjs'))
    const outcome = once(thread, 'message')
    thread.postMessage({
      analysis: { name: 'errors', http: { url: 'http://app' }, successCondition: 'result.all(x, x < 2)' },
      values: {},
      answer: { status: 200, contentType: 'application/json', body: '[1]' },
    })
    expect(await outcome).toEqual([{ phase: 'Successful', value: '[1]' }])
    await thread.terminate()
  })

  it('prints its version', async () => {
    const run = container('version')
    expect([await run.ended, run.output()]).toEqual([0, expect.stringMatching(/^tranche \d+\.\d+\.\d+ \(Node\.js /)])
  })

  it('starts as each of its programs, and ends with 0', async () => {
    await Promise.all(
      [['controller'], ['executor'], ['api', '--api-port=0'], ['all-in-one', '--api-port=0']].map(async (args) => {
        const run = container(...args, ...(args[0] === 'api' ? [] : ['--health-port=0']))
        await ready(run)
        run.terminate()
        expect([await run.ended, run.output()]).toEqual([0, expect.not.stringMatching(/"level":"(warn|error)"/)])
      }),
    )
  })

  it('lists and watches each resource once in all-in-one, except that change observer and schema check read some kinds again', async () => {
    const shared = ['nodes', 'pods', 'daemonsets', 'controllerrevisions', 'rollouts', 'batchreleases']
    const again = ['daemonsets', 'rollouts', 'rollouts', 'batchreleases']
    const wanted = [...shared, ...again].flatMap((name) => [`list ${name}`, `watch ${name}`])
    const asked: string[] = []
    onCall = ({ actor, verb, resource }) => {
      if (actor === account && shared.includes(resource.resource) && /^(list|watch)$/.test(verb)) asked.push(`${verb} ${resource.resource}`)
      return undefined
    }
    const run = container('all-in-one', '--api-port=0', '--health-port=0')
    await ready(run)
    await vi.waitUntil(() => asked.length >= wanted.length, { timeout: 30_000, interval: 50 })
    onCall = () => undefined
    run.terminate()
    await run.ended
    expect(asked.toSorted()).toEqual(wanted.toSorted())
  })

  it('ends within 10 s at any moment of a release with nothing half done, and the next process continues it', async () => {
    await apply(agentManifest('v1'))
    await apply(rollout)
    let running = container('all-in-one', '--health-port=0')
    await kubectl(['wait', 'rollout/agent', '--for=jsonpath={.status.phase}=Healthy', '--timeout=60s'])
    await kubectl(['set', 'image', 'daemonset/agent', 'main=agent:v2'])
    for (const [verb, what] of moments) {
      const tookMs = await endAt(running, (call) => call.verb === verb && textOf(call) === what && call.actor === account)
      expect(tookMs, `${verb} ${what}`).toBeLessThan(END_MS)
      expect(await running.ended, running.output()).toBe(0)
      expect(
        (await kubectl(['get', 'lease', 'tranche-controller', '-n', 'kube-system', '-o', 'jsonpath={.spec.holderIdentity}'])).stdout,
      ).toBe('')
      running = container('all-in-one', '--health-port=0')
    }
    await kubectl(['wait', 'rollout/agent', '--for=jsonpath={.status.phase}=Healthy', '--timeout=60s'])
    expect((await kubectl(['get', 'daemonset/agent', '-o', 'jsonpath={.status.updatedNumberScheduled}'])).stdout).toBe('8')
    running.terminate()
    await running.ended
    expect(judge(readWithDeliveries(lines), { isOurs: (actor) => actor === account })).toEqual([])
  })

  it('ends within 10 s when the API server does not answer', async () => {
    const run = container('all-in-one', '--api-port=0', '--health-port=0')
    await run.said('became leader')
    await kubectl(['set', 'image', 'daemonset/agent', 'main=agent:v3'])
    const silent = Promise.withResolvers<void>()
    onCall = ({ actor, verb }) => {
      if (actor !== account || verb === 'watch') return undefined
      silent.resolve()
      return { kind: 'delay', ms: 3_600_000, when: 'before' }
    }
    await silent.promise
    const startMs = performance.now()
    run.terminate()
    expect([await run.ended, performance.now() - startMs < END_MS]).toEqual([0, true])
  })
})

/** In the order of a release. */
const moments = [
  ['patch', 'daemonsets'],
  ['delete', 'pods'],
  ['patch', 'batchreleases/status'],
] as const

const rollout = {
  apiVersion: 'rollouts.kruise.io/v1beta1',
  kind: 'Rollout',
  metadata: { name: 'agent', namespace: 'default' },
  spec: {
    workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' },
    strategy: { canary: { steps: [{ replicas: 2, pause: { duration: 1 } }, { replicas: '100%' }] } },
  },
}

function container(...args: readonly string[]): RunningContainer {
  const { url: server, caCertificate, simulator } = cluster
  const setting = { image: image.root, server, caCertificate, token: simulator.tokenFor(account), namespace: 'tranche-system' }
  return runContainer({ name: 'tranche', command: ['tranche'], args }, setting)
}

/** Asks the process to end when it sends such a request. @returns the time until it has ended, in milliseconds */
async function endAt(run: RunningContainer, isMoment: (call: Call) => boolean): Promise<number> {
  const startMs = await new Promise<number>((resolve) => {
    onCall = (call) => {
      if (isMoment(call)) {
        run.terminate()
        onCall = () => undefined
        resolve(performance.now())
      }
      return undefined
    }
  })
  await run.ended
  return performance.now() - startMs
}

async function ready(run: RunningContainer): Promise<void> {
  const line = await run.said(/(serving health probes|started)/)
  const [origin] = /http:\/\/[^/"]+/.exec(line)!
  await vi.waitUntil(async () => (await fetch(`${origin}/readyz`)).ok, { timeout: 30_000, interval: 50 })
}

function textOf({ resource, subresource }: Call): string {
  return [resource.resource, ...(subresource === undefined ? [] : [subresource])].join('/')
}

async function apply(object: object): Promise<void> {
  await kubectl(['apply', '-f', '-'], JSON.stringify(object))
}

async function kubectl(args: readonly string[], input = '') {
  const ended = await runProgram(programs!.kubectl, ['--kubeconfig', cluster.kubeconfig, ...args], { input })
  if (ended.code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${ended.stderr}`)
  return ended
}
