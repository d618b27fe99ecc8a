import { generateKeyPairSync, type KeyPairKeyObjectResult, randomUUID, sign, verify } from 'node:crypto'
import { type Actor, type ApiObject, type ResourceId, resources } from '../model/client.ts'
import { isObject, type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { authenticatedGroup } from './attributes.ts'

/** @returns the object as it is stored, or undefined */
export type ReadObject = (id: ResourceId, name: string, namespace?: string) => ApiObject | undefined

/** Claims of a token. */
export interface TokenGrant {
  readonly account: ApiObject
  readonly audiences: readonly string[]
  readonly expirationSeconds: number
  /** Object that the token is bound to: a Pod, Secret or Node. The token is invalid once it is gone. */
  readonly boundTo?: ApiObject | undefined
}

/** Issues and verifies tokens of service accounts. Each server has a new key, which never leaves it. */
export interface ServiceAccountTokens {
  /** @returns a JWT (ES256) */
  issue(grant: TokenGrant): string
  /**
   * @param audiences the token must have at least one of these
   * @returns identity of the token; undefined when it was issued elsewhere, has expired, or its account or bound object is gone
   */
  read(token: string, audiences?: readonly string[]): { readonly actor: Actor; readonly audiences: readonly string[] } | undefined
}

/** Audience of the API server, and issuer of its tokens. */
export const apiAudience = 'https://kubernetes.default.svc.cluster.local'

/** @param nowMs epoch milliseconds of the server's clock */
export function createServiceAccountTokens(nowMs: () => number, readObject: ReadObject): ServiceAccountTokens {
  let keys: KeyPairKeyObjectResult | undefined
  const key = (): KeyPairKeyObjectResult => (keys ??= generateKeyPairSync('ec', { namedCurve: 'P-256' }))
  return {
    issue(grant) {
      const text = `${encode({ alg: 'ES256', kid: 'simulator', typ: 'JWT' })}.${encode(claimsOf(grant, Math.floor(nowMs() / 1000)))}`
      const signature = sign('sha256', Buffer.from(text), { key: key().privateKey, dsaEncoding: 'ieee-p1363' })
      return `${text}.${signature.toString('base64url')}`
    },
    read(token, wanted = [apiAudience]) {
      const claims = keys === undefined ? undefined : verifiedClaims(token, keys)
      if (claims === undefined || Number(claims['exp']) * 1000 <= nowMs()) return undefined
      const audiences = listOrEmpty(claims['aud'])
        .map(String)
        .filter((audience) => wanted.includes(audience))
      const actor = audiences.length === 0 ? undefined : actorOf(claims, readObject)
      return actor && { actor, audiences }
    },
  }
}

const boundKinds = { Pod: resources.pods, Secret: resources.secrets, Node: resources.nodes } as const

/** @returns resource of a kind that tokens can be bound to */
export function boundResource(kind: string): ResourceId | undefined {
  return Object.hasOwn(boundKinds, kind) ? boundKinds[kind as keyof typeof boundKinds] : undefined
}

function claimsOf({ account, audiences, expirationSeconds, boundTo }: TokenGrant, nowSeconds: number): JsonObject {
  const { name, namespace, uid } = account.metadata
  return {
    aud: audiences,
    exp: nowSeconds + expirationSeconds,
    iat: nowSeconds,
    iss: apiAudience,
    jti: randomUUID(),
    'kubernetes.io': {
      namespace,
      ...(boundTo && { [boundTo.kind.toLowerCase()]: { name: boundTo.metadata.name, uid: boundTo.metadata.uid } }),
      serviceaccount: { name, uid },
    },
    nbf: nowSeconds,
    sub: `system:serviceaccount:${namespace}:${name}`,
  }
}

function verifiedClaims(token: string, { publicKey }: KeyPairKeyObjectResult): JsonObject | undefined {
  const [header, payload, signature, ...rest] = token.split('.')
  if (header === undefined || payload === undefined || signature === undefined || rest.length > 0) return undefined
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
  if (!verify('sha256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'))) return undefined
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
  return isObject(claims) ? claims : undefined
}

function actorOf(claims: JsonObject, readObject: ReadObject): Actor | undefined {
  const own = objectOrEmpty(claims['kubernetes.io'])
  const account = objectOrEmpty(own['serviceaccount'])
  const [name, namespace] = [String(account['name']), String(own['namespace'])]
  if (readObject(resources.serviceAccounts, name, namespace)?.metadata.uid !== account['uid']) return undefined
  const extra: Record<string, readonly string[]> = { 'authentication.kubernetes.io/credential-id': [`JTI=${String(claims['jti'])}`] }
  for (const [kind, resource] of Object.entries(boundKinds)) {
    const bound = own[kind.toLowerCase()]
    if (bound === undefined) continue
    const { name: boundName, uid } = objectOrEmpty(bound)
    if (readObject(resource, String(boundName), kind === 'Node' ? undefined : namespace)?.metadata.uid !== uid) return undefined
    if (kind === 'Secret') continue
    extra[`authentication.kubernetes.io/${kind.toLowerCase()}-name`] = [String(boundName)]
    extra[`authentication.kubernetes.io/${kind.toLowerCase()}-uid`] = [String(uid)]
  }
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    uid: String(account['uid']),
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, authenticatedGroup],
    extra,
  }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
