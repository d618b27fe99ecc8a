import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build } from 'vite'
import { parse } from 'yaml'
import { buildHostPlugins } from '../../../scripts/host-plugins/build.ts'

/** API server of a stage, as a kubeconfig describes it. */
export interface StageServer {
  readonly server: string
  readonly ca: string
  /** Token of a user with all rights. */
  readonly token: string
}

/** @returns the API server of a kubeconfig */
export function serverOf(kubeconfig: string): StageServer {
  const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8')) as {
    readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[]
    readonly users: readonly { readonly user: { readonly token: string } }[]
  }
  const { server = '', 'certificate-authority-data': data, 'certificate-authority': file } = clusters[0]!.cluster
  const ca = data === undefined ? readFileSync(file!, 'utf8') : Buffer.from(data, 'base64').toString()
  return { server, ca, token: users[0]!.user.token }
}

/** Built plugins, and the pages that play their hosts. */
export interface HostFiles {
  /** Text of a plugin by its path below the folder of the build. */
  plugin(path: string): string
  /** Script of the page that plays a host. */
  host(name: HostName): string
  dispose(): void
}

/** Hosts with the version of React that each brings. */
const hosts = [
  { name: 'headlamp', react: 18 },
  { name: 'argo-cd', react: 19 },
] as const

/** Name of a page that plays a host. */
export type HostName = (typeof hosts)[number]['name']

/** React 18 is a dependency of these tests, and 19 one of the dashboard. */
function reactOf(version: 18 | 19): { readonly find: RegExp; readonly replacement: string }[] {
  const { resolve: find } = createRequire(resolve(version === 18 ? 'test/dashboard/package.json' : 'apps/dashboard/package.json'))
  return ['react', 'react/jsx-runtime', 'react-dom', 'react-dom/client'].map((name) => ({
    find: new RegExp(`^${name}$`),
    replacement: find(name),
  }))
}

/** Builds the plugins, and the pages of all hosts. */
export async function buildHosts(): Promise<HostFiles> {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-hosts-'))
  await buildHostPlugins(join(folder, 'plugins'))
  for (const { name, react } of hosts)
    await build({
      root: resolve('test/dashboard'),
      configFile: false,
      logLevel: 'error',
      mode: 'development',
      define: { 'process.env.NODE_ENV': '"development"' },
      resolve: { alias: reactOf(react) },
      build: {
        outDir: join(folder, name),
        minify: false,
        lib: { entry: resolve(`test/dashboard/hosts/${name}.ts`), formats: ['iife'], name: 'host', fileName: () => 'host.js' },
      },
    })
  const read = (path: string): string => readFileSync(join(folder, path), 'utf8')
  return {
    plugin: (path) => read(`plugins/${path}`),
    host: (name) => read(`${name}/host.js`),
    dispose: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Styles of a host that would disturb any page inside it, and that a page inside must not disturb. */
export const hostStyles = `
  html { background: #fff; color: #111; font: 22px/2 serif; text-align: center; text-transform: uppercase; letter-spacing: 3px; }
  html[data-theme=dark], .theme-dark { background: #282828; color: #eee; }
  * { box-sizing: content-box; }
  h1, h2, h3 { color: rgb(200, 0, 200); font-size: 60px; border-bottom: 5px solid; }
  main section, main p { padding: 40px; border: 3px dotted rgb(200, 0, 200); }
  main table td, main table th { padding: 30px; background: rgb(200, 0, 200); }
  main button { border-radius: 40px; background: rgb(200, 0, 200); text-transform: uppercase; }
  main a { color: rgb(200, 0, 200); }
  .badge, .nodes, .steps { display: none; }
`

/** Handler of one path prefix. */
export type HostRoute = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

/** A server of a host. */
export interface HostServer {
  readonly url: string
  dispose(): void
}

/**
 * Serves a page with a script, and the routes of its host.
 *
 * @param routes by prefix of the path
 * @param headers of the page
 */
export async function serveHost(
  script: string,
  routes: Readonly<Record<string, HostRoute>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<HostServer> {
  const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Host</title><link rel="icon" href="data:,"><style>${hostStyles}</style><div id="root"></div><script src="/host.js"></script></html>`
  const texts: Readonly<Record<string, readonly [string, string]>> = {
    '/': ['text/html', page],
    '/host.js': ['text/javascript', script],
  }
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? ''
    const text = texts[path.split('?', 1)[0] ?? '']
    const prefix = Object.keys(routes).find((one) => path.startsWith(one))
    if (text !== undefined) response.writeHead(200, { ...headers, 'content-type': text[0] }).end(text[1])
    else if (prefix === undefined) response.writeHead(404).end()
    else void routes[prefix]!(incoming, response)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    dispose() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Passes requests on to the API server as Headlamp does: with its own user agent, the token of a user, and without the prefix of the path. */
export function proxyTo({ server, ca }: StageServer, token: () => string, prefix: string): HostRoute {
  return (incoming, response) => {
    const url = new URL((incoming.url ?? '').slice(prefix.length), server)
    const { 'content-type': type = 'application/json', accept = 'application/json' } = incoming.headers
    const headers = { authorization: `Bearer ${token()}`, 'content-type': type, accept, 'user-agent': 'Headlamp 0.45.0 (linux/amd64)' }
    const outgoing = request(url, { method: incoming.method, ca, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'], date: answer.headers.date })
      answer.pipe(response)
    })
    outgoing.on('error', () => response.destroy())
    incoming.pipe(outgoing)
  }
}
