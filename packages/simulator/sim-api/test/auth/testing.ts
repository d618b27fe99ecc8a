import { FakeClock, systemClock } from '@tranche/clock'
import {
  type Actor,
  type ApiObject,
  type ApiServerOptions,
  type ApiStatus,
  createApiServer,
  createHttpFront,
  type HttpFront,
} from '@tranche/sim-api'
import { bodyText } from '@tranche/wire'

/** An answer over HTTP. */
export interface Answer {
  readonly status: number
  readonly json: ApiObject & ApiStatus
}

const people: Readonly<Record<string, Actor>> = {
  root: { name: 'root', groups: ['system:masters'] },
  jane: { name: 'jane', groups: ['team'] },
  joe: { name: 'joe' },
}

/** A server with an administrator `root` and two users; each name is its bearer token. */
export function setUp(options: Partial<ApiServerOptions> = {}) {
  const clock = new FakeClock(Date.parse('2026-01-01T00:00:00Z'))
  const server = createApiServer({ clock, seed: 1, ...options })
  const front = createHttpFront(server, { tokens: people, clock })
  return { clock, server, front, ...senders(front) }
}

/** A server as {@link setUp} makes it, on the clock of this machine. */
export function setUpNow() {
  const server = createApiServer({ clock: systemClock, seed: 1 })
  return { server, front: createHttpFront(server, { tokens: people, clock: systemClock }) }
}

function senders(front: HttpFront) {
  async function send(token: string | undefined, line: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const [method = '', path = ''] = line.split(' ')
    const all = { ...(token && { authorization: `Bearer ${token}` }), ...headers }
    const sent = { method, path, headers: all, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const answer = await front.handle(sent, new AbortController().signal)
    const text = await bodyText(answer)
    return { status: answer.status, json: JSON.parse(text.startsWith('{') ? text : '{}') as Answer['json'] }
  }
  /** Gives rights to subjects: in the namespace `default`, or everywhere. */
  async function grant(name: string, rules: readonly object[], subjects: readonly object[], everywhere = false): Promise<void> {
    const kind = everywhere ? 'ClusterRole' : 'Role'
    const apiVersion = 'rbac.authorization.k8s.io/v1'
    const metadata = { name, ...(!everywhere && { namespace: 'default' }) }
    const at = `/apis/${apiVersion}${everywhere ? '/cluster' : '/namespaces/default/'}role`
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind, name }
    const answers = [
      await send('root', `POST ${at}s`, { apiVersion, kind, metadata, rules }),
      await send('root', `POST ${at}bindings`, { apiVersion, kind: `${kind}Binding`, metadata, roleRef, subjects }),
    ]
    for (const { status, json } of answers) if (status !== 201) throw new Error(json.message)
  }
  return { send, grant }
}

/** The user jane as a subject. */
export const jane = { kind: 'User', name: 'jane' }

/** A rule about resources of the core group. */
export function rule(resourceNames: string, verbs: string, more: object = {}): object {
  return { apiGroups: [''], resources: resourceNames.split(' '), verbs: verbs.split(' '), ...more }
}
