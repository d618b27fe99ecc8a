import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Exchange } from '@tranche/wire'
import type { HeadlampLib } from '../src/headlamp/headlamp-lib.ts'

/** A back end of Headlamp on a socket. */
export interface HeadlampServer {
  /** @returns the request function that Headlamp gives its plugins, for a user who is signed in */
  clusterRequest(user: string): HeadlampLib['ApiProxy']['clusterRequest']
  close(): void
}

/** Serves the API server of a cluster below `/clusters/demo`. */
export async function serveHeadlamp(exchangeOf: (user: string) => Exchange): Promise<HeadlampServer> {
  const server = createServer((incoming, response) => {
    const answer = async (): Promise<void> => {
      let body = ''
      for await (const chunk of incoming.setEncoding('utf8')) body += chunk as string
      const { 'x-user': user, 'content-type': type = '', accept = '' } = incoming.headers
      const path = (incoming.url ?? '').replace('/clusters/demo', '')
      const request = { method: incoming.method ?? '', path, headers: { 'content-type': type, accept }, ...(body !== '' && { body }) }
      const { status, headers, body: chunks } = await exchangeOf(String(user))(request, new AbortController().signal)
      response.writeHead(status, headers)
      for await (const chunk of chunks) response.write(chunk)
      response.end()
    }
    answer().catch(() => response.destroy())
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    clusterRequest:
      (user) =>
      async (path, { cluster, isJSON: _json, autoLogoutOnAuthError: _logout, headers, ...init }) => {
        const response = await fetch(`${url}/clusters/${cluster}${path}`, { ...init, headers: { ...headers, 'x-user': user } })
        if (response.ok) return response
        const { message } = (await response.json()) as { readonly message?: string }
        throw Object.assign(new Error(`${response.statusText} - ${message}`), { status: response.status })
      },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
