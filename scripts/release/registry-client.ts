/** Client of registries, as the Open Container Initiative describes them. */
import { digestOf } from '../image/layer.ts'

/** Account of a registry. */
export interface RegistryAccount {
  readonly user: string
  readonly token: string
}

/** A repository of a registry. */
export interface RegistryPlace {
  /** Host with an optional port, and the path: `registry.example/team/tranche`. */
  readonly name: string
  /** Whether requests are not encrypted, as on the loopback interface. @default false */
  readonly plain?: boolean
  /** @default no account */
  readonly account?: RegistryAccount | undefined
}

/** A blob or manifest, by reference. */
export interface OciDescriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

/** A manifest as it is stored. */
export interface StoredManifest {
  readonly mediaType: string
  readonly bytes: Buffer
  readonly digest: string
}

const MANIFESTS = ['image.index.v1', 'image.manifest.v1'].map((kind) => `application/vnd.oci.${kind}+json`)

/**
 * Reads and writes one repository.
 *
 * @see https://github.com/opencontainers/distribution-spec/blob/main/spec.md
 */
export class RegistryClient {
  readonly #place: RegistryPlace
  readonly #base: string
  #authorization: string | null = null

  /** @param place repository */
  constructor(place: RegistryPlace) {
    this.#place = place
    const slash = place.name.indexOf('/')
    this.#base = `${place.plain === true ? 'http' : 'https'}://${place.name.slice(0, slash)}/v2${place.name.slice(slash)}`
  }

  /** Writes a blob unless the registry has it. */
  async putBlob(digest: string, bytes: Buffer): Promise<void> {
    const head = await this.#send('HEAD', `/blobs/${digest}`, [200, 404])
    if (head.status === 200) return
    const started = await this.#send('POST', '/blobs/uploads/', [202])
    const target = new URL(started.headers.get('location') ?? '', `${this.#base}/`)
    target.searchParams.set('digest', digest)
    await this.#send('PUT', target, [201], { body: bytes, type: 'application/octet-stream' })
  }

  /** @throws {Error} if there is none, or its content has another digest */
  async blob(digest: string): Promise<Buffer> {
    const bytes = Buffer.from(await (await this.#send('GET', `/blobs/${digest}`, [200])).arrayBuffer())
    return checked(bytes, digest, this.#place.name)
  }

  /**
   * @param reference tag or digest
   * @returns whether the registry lists it by itself among the referrers of its subject
   */
  async putManifest(reference: string, mediaType: string, bytes: Buffer): Promise<boolean> {
    const { headers } = await this.#send('PUT', `/manifests/${reference}`, [201], { body: bytes, type: mediaType })
    return headers.has('oci-subject')
  }

  /**
   * @param reference tag or digest
   * @returns null if there is none
   * @throws {Error} if it is found by digest and has another one
   */
  async manifest(reference: string): Promise<StoredManifest | null> {
    const response = await this.#send('GET', `/manifests/${reference}`, [200, 404], { accept: MANIFESTS })
    if (response.status === 404) return null
    const bytes = Buffer.from(await response.arrayBuffer())
    if (reference.startsWith('sha256:')) checked(bytes, reference, this.#place.name)
    return { bytes, digest: digestOf(bytes), mediaType: (response.headers.get('content-type') ?? '').split(';')[0]! }
  }

  /** @returns the index of what refers to a manifest, if the registry keeps one by itself; null otherwise */
  async referrers(digest: string): Promise<Buffer | null> {
    const response = await this.#send('GET', `/referrers/${digest}`, [200, 404])
    return response.status === 404 ? null : Buffer.from(await response.arrayBuffer())
  }

  async #send(method: string, to: string | URL, accepted: readonly number[], content: RequestContent = {}): Promise<Response> {
    const url = typeof to === 'string' ? `${this.#base}${to}` : to
    const first = await this.#fetch(method, url, content)
    const response =
      first.status === 401 && this.#isOwnHost(url) && (await this.#login(first)) ? await this.#fetch(method, url, content) : first
    if (accepted.includes(response.status)) return response
    const answer = method === 'HEAD' ? '' : `: ${(await response.text()).trim().slice(0, 300)}`
    throw new Error(`registry ${this.#place.name}: ${method} ${new URL(url).pathname} answered ${response.status}${answer}`)
  }

  #fetch(method: string, url: string | URL, { body, type, accept }: RequestContent): Promise<Response> {
    const headers = {
      ...(type !== undefined && { 'content-type': type }),
      ...(accept !== undefined && { accept: accept.join(', ') }),
      ...(this.#authorization !== null && this.#isOwnHost(url) && { authorization: this.#authorization }),
    }
    return fetch(url, { method, headers, ...(body !== undefined && { body: new Uint8Array(body) }) })
  }

  /** A registry may send an upload to another host, which gets no credentials. */
  #isOwnHost(url: string | URL): boolean {
    return new URL(url).origin === new URL(this.#base).origin
  }

  /** @returns whether another attempt may succeed */
  async #login(rejected: Response): Promise<boolean> {
    const { account } = this.#place
    const challenge = rejected.headers.get('www-authenticate') ?? ''
    const basic = account === undefined ? null : `Basic ${Buffer.from(`${account.user}:${account.token}`).toString('base64')}`
    if (!/^bearer /i.test(challenge)) return (this.#authorization = basic) !== null
    const fields = new Map([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]))
    const url = new URL(fields.get('realm') ?? '')
    if (url.protocol !== 'https:' && this.#place.plain !== true)
      throw new Error(`registry ${this.#place.name}: the login at ${url.host} is not encrypted; credentials are sent only over https`)
    const repository = this.#place.name.slice(this.#place.name.indexOf('/') + 1)
    url.searchParams.set('service', fields.get('service') ?? '')
    url.searchParams.set('scope', fields.get('scope') ?? `repository:${repository}:pull,push`)
    const response = await fetch(url, { headers: basic === null ? {} : { authorization: basic } })
    if (!response.ok)
      throw new Error(`registry ${this.#place.name}: the login answered ${response.status}; check REGISTRY_USER and REGISTRY_TOKEN`)
    const { token, access_token } = (await response.json()) as { readonly token?: string; readonly access_token?: string }
    this.#authorization = `Bearer ${token ?? access_token}`
    return true
  }
}

interface RequestContent {
  readonly body?: Buffer
  readonly type?: string
  readonly accept?: readonly string[]
}

function checked(bytes: Buffer, digest: string, name: string): Buffer {
  const found = digestOf(bytes)
  if (found !== digest) throw new Error(`registry ${name}: ${digest} has another content, with the digest ${found}`)
  return bytes
}
