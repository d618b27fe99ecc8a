import { createHash } from 'node:crypto'
import type { WireRequest, WireResponse } from '@tranche/wire'
import type { ResourceDefinition } from '../../model/resource-definition.ts'
import { apiGroup, apiGroupList, apiResourceList, coreVersions, groupDiscoveryList } from './discovery.ts'
import { documentAnswer, jsonAnswer, redirectAnswer, textAnswer } from '../wire/json-answer.ts'
import { discoveryVersion, takesJson } from '../wire/negotiate.ts'
import { createOpenApi, type OpenApi } from './open-api.ts'
import type { Route } from '../wire/route.ts'

/** Documents of the server about itself, by path. Returns `undefined` when there is no such document. */
export type Documents = (route: Route, wire: WireRequest) => WireResponse | undefined

/** @param definitions resources served now; called for each response */
export function createDocuments(definitions: () => readonly ResourceDefinition[]): Documents {
  const openApi = createOpenApi(definitions)
  return (route, wire) => {
    switch (route.kind) {
      case 'root':
        return jsonAnswer(200, JSON.stringify({ paths: rootPaths(definitions()) }))
      case 'coreVersions':
        return discovery('api', coreVersions(), { wire, definitions: definitions() })
      case 'groups':
        return discovery('apis', apiGroupList(definitions()), { wire, definitions: definitions() })
      case 'group':
        return plain(apiGroup(route.group, definitions()))
      case 'resources':
        return plain(apiResourceList(route.group, route.version, definitions()))
      case 'openApiIndex':
        return jsonAnswer(200, JSON.stringify(openApi.index()))
      case 'openApi':
        return takesJson(wire.headers['accept']) ? openApiAnswer(openApi, route, wire) : textAnswer(406, '')
      case 'openApiV2':
        return version2(wire.headers['accept'])
      default:
        return undefined
    }
  }
}

/**
 * kubectl reads OpenAPI v2, in protobuf only, before it sends a `List`. With an empty document it validates nothing itself, and the server
 * validates each object of the list. No client needs v2 in JSON.
 */
function version2(accept = ''): WireResponse {
  if (!accept.includes('proto-openapi.spec.v2')) return textAnswer(406, '')
  const { headers, ...answer } = textAnswer(200, emptyVersion2)
  return { ...answer, headers: { ...headers, 'content-type': 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf' } }
}

/** `{swagger: '2.0', info: {title: 'Kubernetes', version: 'v1.36.2'}}`: per field its number and kind, then the length. */
const emptyVersion2 = '\n\u00032.0\u0012\u0015\n\nKubernetes\u0012\u0007v1.36.2'

interface Asked {
  readonly wire: WireRequest
  readonly definitions: readonly ResourceDefinition[]
}

/** Clients that support aggregated discovery get one document with an ETag; others get the first of many. */
function discovery(root: 'api' | 'apis', legacy: object, { wire, definitions }: Asked): WireResponse {
  const version = discoveryVersion(wire.headers['accept'])
  if (version === undefined) return documentAnswer(wire, JSON.stringify(legacy), { vary: 'Accept' })
  const text = JSON.stringify(groupDiscoveryList(root, version, definitions))
  return documentAnswer(wire, text, {
    'content-type': `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`,
    'cache-control': 'public',
    etag: `"${createHash('sha512').update(text).digest('hex').toUpperCase()}"`,
    vary: 'Accept',
  })
}

function plain(document: object | undefined): WireResponse | undefined {
  return document === undefined ? undefined : jsonAnswer(200, JSON.stringify(document))
}

/** A URL with the hash of its document may be cached indefinitely; a URL with another hash redirects to it. */
function openApiAnswer(openApi: OpenApi, route: Extract<Route, { kind: 'openApi' }>, wire: WireRequest): WireResponse | undefined {
  const document = openApi.document(route.path)
  if (document === undefined || route.hash === '') return document && hashed(document, wire, {})
  if (route.hash === document.hash) return hashed(document, wire, { 'cache-control': 'public, immutable' })
  return redirectAnswer(document.url)
}

function hashed(
  document: { readonly text: string; readonly hash: string },
  wire: WireRequest,
  headers: Record<string, string>,
): WireResponse {
  return documentAnswer(wire, document.text, { etag: `"${document.hash}"`, vary: 'Accept', ...headers })
}

function rootPaths(definitions: readonly ResourceDefinition[]): readonly string[] {
  const groups = definitions.filter(({ group }) => group !== '')
  const ofGroups = groups.flatMap(({ group, versions }) => [`/apis/${group}`, ...versions.map((version) => `/apis/${group}/${version}`)])
  const health = ['/healthz', '/healthz/ping', '/livez', '/livez/ping', '/readyz', '/readyz/ping']
  return ['/api', '/api/v1', '/apis', ...[...new Set(ofGroups)].sort(), ...health, '/openapi/v2', '/openapi/v3', '/version']
}
