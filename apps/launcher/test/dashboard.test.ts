import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Rollout } from '@tranche/api-schema'
import { systemClock } from '@tranche/clock'
import { createKubeClient, type KubeClient, resourcePaths } from '@tranche/kube-client'
import { RECORDED_ACTIONS_ANNOTATION } from '@tranche/kube-types'
import { launch } from '@tranche/launcher'
import { silentLogger } from '@tranche/telemetry'
import { createSimulator, type Simulator } from '@tranche/sim'
import { type HttpsServer, listen, resources } from '@tranche/sim-api'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { installDemo, installResources } from '../src/dev/install-objects.ts'
import { kubeconfigFor } from './kubeconfig-for.ts'

const people = ['operator', 'viewer', 'tenant', 'blind', 'outsider']
const key = { namespace: 'demo', name: 'node-agent' }

let folder: string
let simulator: Simulator
let https: HttpsServer
let admin: KubeClient

beforeAll(async () => {
  // Takes seconds, but only after a change of the page.
  expect(spawnSync(process.execPath, ['scripts/build-dashboard.ts', '--if-needed'], { stdio: 'ignore' }).status).toBe(0)
  folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
  const actors = Object.fromEntries(people.map((name) => [name, { name, groups: ['people', 'system:authenticated'] }]))
  simulator = createSimulator({ clock: systemClock, nodes: 3, watchDelayMs: 0, actors })
  admin = createKubeClient({ exchange: simulator.exchangeFor('admin'), clock: systemClock, log: silentLogger, userAgent: 'kubectl/v1.37' })
  await simulator.start()
  const ports = { client: admin, clock: systemClock, signal: new AbortController().signal }
  await installResources(ports)
  await installDemo(ports)
  await grant('operator', { clusterwide: ['tranche-cli-operator', 'tranche-cli-cluster'] })
  await grant('viewer', { clusterwide: ['tranche-cli-viewer', 'tranche-cli-cluster'] })
  await grant('tenant', { clusterwide: ['tranche-cli-cluster'], inDemo: ['tranche-cli-viewer'] })
  await grant('blind', { inDemo: ['tranche-cli-viewer'] })
  https = await listen(simulator.front, { port: 0 })
})
afterAll(async () => {
  simulator.stop()
  await https.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('tranche dashboard', () => {
  it('serves the page to the one browser that opens its link, with the rights of the user of the kubeconfig, until Ctrl-C', async () => {
    const running = await start('operator')
    const { origin, cookie } = await logIn(running.link)
    expect(running.said[0]).toMatch(
      /^Serving the dashboard of https:\S+ \(context tranche\) with the rights of user "operator", in all namespaces\.$/,
    )
    const index = await fetch(`${origin}/dashboard/`)
    expect([index.status, index.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const rollouts = await get(`${origin}/api/v1/rollouts`, { cookie })
    expect(rollouts).toMatchObject({ total: 1, items: [key] })

    const { csrfToken = '', username } = (await get(`${origin}/api/v1/me`, { cookie })) as { csrfToken?: string; username: string }
    expect(username).toBe('operator')
    const paused = await act(`${origin}/api/v1/namespaces/demo/rollouts/node-agent/actions/pause`, {
      cookie,
      origin,
      'x-csrf-token': csrfToken,
    })
    expect(paused).toMatchObject({ type: 'pause', state: 'accepted' })
    const { metadata } = await admin.get<Rollout>(resourcePaths.rollouts, key)
    const [record] = JSON.parse(metadata.annotations?.[RECORDED_ACTIONS_ANNOTATION] ?? '') as readonly Readonly<Record<string, unknown>>[]
    expect(record).toMatchObject({ type: 'pause', by: 'operator', via: 'cli', reason: 'lunch' })
    expect(record).not.toHaveProperty('from')
    const managers = (metadata as { readonly managedFields?: readonly { readonly manager: string }[] }).managedFields ?? []
    expect(managers.map(({ manager }) => manager)).toContain('tranche-cli')

    // A token in this place could come from anywhere; the browser has a session.
    const withToken = { authorization: `Bearer ${simulator.tokenFor('operator')}` }
    expect(await get(`${origin}/api/v1/rollouts`, withToken)).toMatchObject({ code: 'TOKEN_INVALID', status: 401 })
    expect(await get(running.link, {})).toMatchObject({ code: 'LOGIN_FAILED', detail: expect.stringContaining('Press Enter') as unknown })
    expect(await running.end()).toBe(0)
  })

  it('shows one namespace to a user who may list no other, and refuses what the user may not do', async () => {
    const running = await start('tenant', ['-n', 'demo'])
    const { origin, cookie } = await logIn(running.link)
    expect(running.said[0]).toContain('with the rights of user "tenant", in namespace demo.')
    expect(running.said[1]).toBe('You may not list and watch events, so the dashboard shows none.')
    expect(await get(`${origin}/api/v1/rollouts`, { cookie })).toMatchObject({ total: 1, items: [key] })
    const { items } = (await get(`${origin}/api/v1/namespaces/demo/rollouts/node-agent/permissions`, { cookie })) as {
      items: readonly object[]
    }
    expect(items).toContainEqual({
      action: 'approve',
      allowed: false,
      permission: 'patch rollouts.rollouts.kruise.io "node-agent" in namespace "demo"',
    })
    const { csrfToken = '' } = (await get(`${origin}/api/v1/me`, { cookie })) as { csrfToken?: string }
    const headers = { cookie, origin, 'x-csrf-token': csrfToken }
    const url = `${origin}/api/v1/namespaces/demo/rollouts/node-agent/actions`
    expect(await act(`${url}/abort`, headers)).toMatchObject({
      code: 'ACCESS_DENIED',
      detail: 'user "tenant" may not patch rollouts.rollouts.kruise.io "node-agent" in namespace "demo". Ask for a role that grants it.',
    })
    expect(await act(`${url}/restart`, headers)).toMatchObject({
      code: 'ACCESS_DENIED',
      detail: 'user "tenant" may not patch daemonsets.apps "node-agent" in namespace "demo". Ask for a role that grants it.',
    })
    expect(await running.end()).toBe(0)
    expect(running.said.filter((line) => line.startsWith('{'))).toEqual([])
  })

  it('opens the browser by the program of the desktop, with a link of its own', async () => {
    const opened = join(folder, 'opened')
    writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\nprintf '%s\\n' "$#" "$1" > '${opened}.part' && mv '${opened}.part' '${opened}'\n`)
    chmodSync(join(folder, 'xdg-open'), 0o755)
    const running = await start('viewer', [], { DISPLAY: ':99', PATH: `${folder}:${process.env['PATH']}` })
    await vi.waitUntil(() => existsSync(opened), { timeout: 20_000, interval: 20 })
    const [count, link = ''] = readFileSync(opened, 'utf8').split('\n')
    expect(count).toBe('1')
    expect(link).not.toBe(running.link)
    for (const one of [link, running.link]) expect(await logIn(one)).toMatchObject({ origin: new URL(running.link).origin })
    expect(await running.end()).toBe(0)
  })
})

describe('tranche dashboard ends at once with one line', () => {
  it('and names -n, if the user may not list all namespaces', async () => {
    const { code, err } = await run(['--kubeconfig', kubeconfigOf('tenant')])
    expect(code).toBe(1)
    expect(err).toMatch(
      /^ACCESS_DENIED: user "tenant" may not list and watch rollouts\.rollouts\.kruise\.io, [^\n]+ pods in all namespaces\. [^\n]+\n$/,
    )
    expect(err).toContain('Name a namespace in which you may: tranche dashboard -n NAME.')
    expect(err).not.toContain('nodes')
  })

  it('and names the role, if the user may not list nodes', async () => {
    const { code, err } = await run(['--kubeconfig', kubeconfigOf('blind'), '-n', 'demo'])
    expect([code, err]).toEqual([
      1,
      'ACCESS_DENIED: user "blind" may not list and watch nodes. Ask for the ClusterRole tranche-cli-cluster, or rights like it.\n',
    ])
  })

  it('and names both roles, if the user may see nothing', async () => {
    const { err } = await run(['--kubeconfig', kubeconfigOf('outsider'), '-n', 'demo'])
    expect(err).toContain('Ask for the ClusterRole tranche-cli-viewer and tranche-cli-cluster, or rights like it.')
  })

  it('if another program has the port', async () => {
    const { code, err } = await run(['--kubeconfig', kubeconfigOf('viewer'), '--no-open', '--port', String(https.port)])
    expect([code, err]).toEqual([1, expect.stringMatching(/^PORT_IN_USE: /)])
  })

  it('if the cluster has no Rollouts', async () => {
    const bare = createSimulator({ clock: systemClock, nodes: 0 })
    const server = await listen(bare.front, { port: 0 })
    const path = join(folder, 'bare')
    writeFileSync(path, kubeconfigFor(server, bare.adminToken))
    const { code, err } = await run(['--kubeconfig', path, '--no-open'])
    expect([code, err]).toEqual([1, expect.stringContaining('serves no Rollouts. Install the CustomResourceDefinitions of Tranche')])
    await server.close()
  })

  it('if the API server does not answer', async () => {
    const path = join(folder, 'away')
    writeFileSync(path, kubeconfigFor({ url: 'https://127.0.0.1:1', caCertificate: https.caCertificate }, 'x'))
    const { code, err } = await run(['--kubeconfig', path, '--no-open'])
    expect([code, err]).toEqual([1, expect.stringMatching(/^API_UNREACHABLE: the API server https:\/\/127\.0\.0\.1:1 \(context tranche\)/)])
  })
})

it('tranche dashboard --server leads to the page of that server', async () => {
  const { code, out } = await run(['--server', 'https://tranche.example.com/', '--no-open'])
  expect([code, out]).toEqual([0, 'https://tranche.example.com/dashboard/\n'])
})

async function grant(
  user: string,
  { clusterwide = [], inDemo = [] }: { clusterwide?: readonly string[]; inDemo?: readonly string[] },
): Promise<void> {
  const { ClusterRole: roles } = parse(readFileSync('charts/tranche/files/rules.yaml', 'utf8')) as { ClusterRole: Record<string, object[]> }
  const client = simulator.clientFor({ name: 'admin' })
  for (const role of [...clusterwide, ...inDemo]) {
    const name = `${user}-${role}`
    await client.create(resources.clusterRoles, { metadata: { name }, rules: roles[role] })
    const binding = {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    }
    if (clusterwide.includes(role)) await client.create(resources.clusterRoleBindings, { metadata: { name }, ...binding })
    else await client.create(resources.roleBindings, { metadata: { name, namespace: 'demo' }, ...binding })
  }
}

function kubeconfigOf(user: string): string {
  const path = join(folder, user)
  writeFileSync(path, kubeconfigFor(https, simulator.tokenFor(user)))
  return path
}

interface Dashboard {
  /** Link on standard output. */
  readonly link: string
  /** Lines on standard error. */
  readonly said: readonly string[]
  /** Sends Ctrl-C. @returns the exit code */
  end(): Promise<number | null>
}

async function start(user: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<Dashboard> {
  const command = ['apps/launcher/bin/tranche.mjs', 'dashboard', '--kubeconfig', kubeconfigOf(user), ...args]
  const child: ChildProcess = spawn(process.execPath, command, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: folder, ...env },
  })
  const said: string[] = []
  createInterface({ input: child.stderr! }).on('line', (line) => said.push(line))
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
  const first = new Promise<string>((resolve) => createInterface({ input: child.stdout! }).once('line', resolve))
  const link = await Promise.race([first, ended.then((code) => Promise.reject(new Error(`it ended with ${code}: ${said.join('\n')}`)))])
  return {
    link,
    said,
    async end() {
      child.kill('SIGINT')
      return ended
    },
  }
}

async function logIn(link: string): Promise<{ readonly origin: string; readonly cookie: string }> {
  const answer = await fetch(link, { redirect: 'manual' })
  const { origin } = new URL(link)
  expect([answer.status, answer.headers.get('location')]).toEqual([302, `${origin}/dashboard/`])
  return { origin, cookie: answer.headers.get('set-cookie')?.split(';', 1)[0] ?? '' }
}

async function get(url: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
  return (await fetch(url, { headers })).json()
}

async function act(url: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
  const body = JSON.stringify({ reason: 'lunch' })
  return (await fetch(url, { method: 'POST', body, headers: { ...headers, 'content-type': 'application/json' } })).json()
}

async function run(args: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const [out, err]: [string[], string[]] = [[], []]
  const stream = (texts: string[]) => ({ write: (text: string) => texts.push(text) })
  const code = await launch(['dashboard', ...args], { out: stream(out), err: stream(err), env: {} })
  return { code, out: out.join(''), err: err.join('') }
}
