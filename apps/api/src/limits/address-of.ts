import { normalizeIP } from '@fastify/rate-limit'

/**
 * Address that limits count by: for IPv6 the /64 network, because one client usually has the whole network.
 *
 * @param ip from the socket or from a trusted proxy
 */
export function addressOf({ ip }: { readonly ip: string }): string {
  return normalizeIP(ip, 64)
}
