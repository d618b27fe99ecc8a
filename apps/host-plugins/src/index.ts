export { createHostClient, type HostClientOptions } from './client/host-client.ts'
