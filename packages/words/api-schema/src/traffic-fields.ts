/**
 * Traffic fields of a Rollout, for workload kinds that another controller releases. They keep their shape and defaults, so that
 * Tranche's CRDs can replace that controller's CRDs without changing its objects.
 *
 * @see gateway.networking.k8s.io/v1beta1 HTTPHeaderFilter, HTTPRouteMatch
 */
import { z } from 'zod'
import { int32 } from './fields.ts'

const headerSchema = z.looseObject({
  name: z.string().meta({ description: 'Name of the header.' }),
  value: z.string().meta({ description: 'Value of the header.' }),
})

const valueMatchSchema = z.looseObject({
  name: z.string().meta({ description: 'Name of the header or query parameter.' }),
  value: z.string().meta({ description: 'Value to compare with.' }),
  type: z.string().optional().meta({ default: 'Exact', description: 'Type of the match.' }),
})

const pathMatchSchema = z.looseObject({
  type: z.string().optional().meta({ default: 'PathPrefix', description: 'Type of the path match.' }),
  value: z.string().optional().meta({ default: '/', description: 'Path to compare with.' }),
})

/** Changes to the headers of requests to the canary. */
export const requestHeaderModifierSchema = z.looseObject({
  set: listByName(headerSchema).optional().meta({ description: 'Headers to overwrite.' }),
  add: listByName(headerSchema).optional().meta({ description: 'Headers to add.' }),
  remove: z.array(z.string()).max(16).optional().meta({ 'x-kubernetes-list-type': 'set', description: 'Headers to remove.' }),
})

/** Selects the requests that go to the canary. */
export const routeMatchSchema = z.looseObject({
  path: pathMatchSchema.optional().meta({ description: 'Path match.' }),
  headers: listByName(valueMatchSchema).optional().meta({ description: 'Header matches.' }),
  queryParams: listByName(valueMatchSchema).optional().meta({ description: 'Query parameter matches.' }),
})

const ingressSchema = z.looseObject({
  name: z.string().meta({ description: 'Name of the Ingress.' }),
  classType: z.string().optional().meta({ description: 'Kind of the Ingress controller.' }),
})

const gatewaySchema = z.looseObject({ httpRouteName: z.string().optional().meta({ description: 'Name of the HTTPRoute.' }) })

const networkRefSchema = z.object({
  apiVersion: z.string().meta({ description: 'API group and version of the object.' }),
  kind: z.string().meta({ description: 'Kind of the object.' }),
  name: z.string().meta({ description: 'Name of the object, in the same namespace.' }),
})

/** Objects that route the requests. */
export const trafficRoutingSchema = z.looseObject({
  service: z.string().meta({ description: 'Name of the Service whose requests are routed.' }),
  gracePeriodSeconds: int32().optional().meta({ default: 3, description: 'Seconds to wait after each change of routes.' }),
  ingress: ingressSchema.optional().meta({ description: 'Ingress that routes the requests.' }),
  gateway: gatewaySchema.optional().meta({ description: 'Gateway that routes the requests.' }),
  customNetworkRefs: z.array(networkRefSchema).optional().meta({ description: 'Other objects that route the requests.' }),
})

function listByName<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  return z
    .array(item)
    .max(16)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] })
}
