import { normalizeIP } from '@fastify/rate-limit'

/**
 * What limits count as one address: of IPv6 the network of /64, for whoever has one address of it has them all.
 *
 * @param ip as the socket or a trusted proxy tells it
 */
export function addressOf({ ip }: { readonly ip: string }): string {
  return normalizeIP(ip, 64)
}
