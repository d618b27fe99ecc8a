/**
 * Reads a body as UTF-8 text; bytes that are no text become replacement characters.
 *
 * @returns the text; null when there are more than `maxBytes`, and then the rest is not read
 */
export async function readBounded(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string | null> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) return null
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
