import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { digestOf } from '../../scripts/image/layer.ts'

/** How a {@link FakeRegistry} differs from Debian's. */
export interface FakeRegistryOptions {
  /** Whether it keeps an index of referrers by itself. @default false */
  readonly keepsReferrers?: boolean
  /** Account without which it answers 401. @default none */
  readonly account?: { readonly user: string; readonly token: string }
  /** Where uploads go: another origin. @default this registry */
  readonly uploads?: string
}

/** A registry in memory, on the loopback interface. */
export interface FakeRegistry extends AsyncDisposable {
  readonly host: string
  /** Requests so far, as `METHOD path`. */
  readonly requests: readonly string[]
  /** Those that had credentials. */
  readonly authorized: readonly string[]
  /** Stored manifests by tag or digest. */
  readonly manifests: ReadonlyMap<string, { readonly type: string; readonly bytes: Buffer }>
  readonly blobs: Map<string, Buffer>
}

/** Starts a registry of one repository, `team/part`. */
export async function startFakeRegistry({
  keepsReferrers = false,
  account,
  uploads = '',
}: FakeRegistryOptions = {}): Promise<FakeRegistry> {
  const requests: string[] = []
  const authorized: string[] = []
  const manifests = new Map<string, { readonly type: string; readonly bytes: Buffer }>()
  const blobs = new Map<string, Buffer>()
  const referrers = (digest: string): Buffer => {
    const own = [...manifests].filter(([key, { bytes }]) => key.startsWith('sha256:') && subjectOf(bytes) === digest)
    const listed = own.map(([key, { type, bytes }]) => ({
      ...(JSON.parse(bytes.toString()) as object),
      mediaType: type,
      digest: key,
      size: bytes.length,
    }))
    return Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests: listed }))
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '', 'http://127.0.0.1')
    const end = (status: number, headers: Readonly<Record<string, string>> = {}, body?: Buffer | string): void => {
      response.writeHead(status, headers).end(body)
    }
    if (url.pathname === '/token') {
      authorized.push('GET token')
      const basic = Buffer.from(`${account?.user}:${account?.token}`).toString('base64')
      if (request.headers.authorization !== `Basic ${basic}`) return end(401)
      return end(200, {}, JSON.stringify({ token: `for ${url.searchParams.get('scope')}` }))
    }
    const path = url.pathname.replace('/v2/team/part/', '')
    requests.push(`${request.method} ${path}`)
    if (request.headers.authorization !== undefined) authorized.push(`${request.method} ${path}`)
    const body = await buffer(request)
    if (account !== undefined && request.headers.authorization !== 'Bearer for repository:team/part:pull,push')
      return end(401, { 'www-authenticate': `Bearer realm="http://${request.headers.host}/token",service="fake"` })
    const [kind = '', name = ''] = path.split('/')
    if (kind === 'blobs' && request.method === 'POST') return end(202, { location: `${uploads}/v2/team/part/blobs/uploads/1?state=2` })
    if (kind === 'blobs' && request.method === 'PUT') return (blobs.set(url.searchParams.get('digest') ?? '', body), end(201))
    if (kind === 'blobs') return blobs.has(name) ? end(200, {}, request.method === 'GET' ? blobs.get(name) : undefined) : end(404)
    if (kind === 'referrers') return keepsReferrers ? end(200, {}, referrers(name)) : end(404)
    if (request.method === 'PUT') {
      const stored = { type: request.headers['content-type'] ?? '', bytes: body }
      manifests.set(name, stored).set(digestOf(body), stored)
      const subject = subjectOf(body)
      return end(201, keepsReferrers && subject !== undefined ? { 'oci-subject': subject } : {})
    }
    const found = manifests.get(name)
    return found === undefined ? end(404) : end(200, { 'content-type': found.type }, found.bytes)
  }
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    authorized,
    manifests,
    blobs,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function subjectOf(manifest: Buffer): string | undefined {
  return (JSON.parse(manifest.toString()) as { readonly subject?: { readonly digest: string } }).subject?.digest
}
