/**
 * Acts on one item after the other. An item that fails keeps none of the others from it: users may write what makes one fail for ever.
 *
 * @throws the first failure, after all items
 */
export async function actOnEach<T>(items: Iterable<T>, act: (item: T) => Promise<void>, signal: AbortSignal): Promise<void> {
  const failures: unknown[] = []
  for (const item of items) {
    signal.throwIfAborted()
    await act(item).catch((error: unknown) => void failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}
