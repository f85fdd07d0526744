import type { ToolSpecification } from './specification.ts';

/** The tools of the order desk. A specification may name them without defining them; its own definition wins. */

const said = { execution_message: { type: 'string', description: 'What to say to the caller while this is done.' } };

const object = (
  properties: Readonly<Record<string, { readonly [key: string]: string | number }>>,
  required: readonly string[] = [],
) => ({
  type: 'object',
  properties: { ...properties, ...said },
  required: [...required],
  additionalProperties: false,
});

export const shippedTools: Readonly<Record<string, ToolSpecification>> = {
  find_products: {
    description: 'Searches the catalogue by words of a product name or kind.',
    parameters: object({ query: { type: 'string', description: 'Words to look for, for example "oat milk".' } }, [
      'query',
    ]),
    backend: {
      state: { do: 'list', at: 'catalogue', search: { by: 'query', in: ['name', 'kind', 'product_id'] } },
    },
  },
  add_to_cart: {
    description: 'Puts a product into the cart, or changes its quantity.',
    parameters: object(
      {
        product_id: { type: 'string', description: 'The id that find_products gave.' },
        quantity: { type: 'integer', minimum: 1, maximum: 999 },
      },
      ['product_id', 'quantity'],
    ),
    backend: { state: { do: 'insert', at: 'cart', initial: [], key: 'product_id' } },
  },
  remove_from_cart: {
    description: 'Takes a product out of the cart.',
    parameters: object({ product_id: { type: 'string' } }, ['product_id']),
    backend: { state: { do: 'remove', at: 'cart', initial: [], key: 'product_id' } },
  },
  get_cart: {
    description: 'What is in the cart now.',
    parameters: object({}),
    backend: { state: { do: 'get', at: 'cart', initial: [] } },
  },
  set_delivery_date: {
    description: 'Sets the day of delivery.',
    parameters: object({ date: { type: 'string', format: 'date', description: 'YYYY-MM-DD' } }, ['date']),
    backend: { state: { do: 'set', at: 'delivery_date', from: 'date', reply: 'Delivery is set for {{ args.date }}.' } },
  },
  set_current_location: {
    description: "Chooses one of the caller's known addresses for this delivery.",
    parameters: object({ location_id: { type: 'integer', minimum: 1 } }, ['location_id']),
    backend: {
      state: {
        do: 'set',
        at: 'location_id',
        from: 'location_id',
        reply: 'Deliveries now go to address {{ args.location_id }}.',
      },
    },
  },
  transfer_call: {
    description: 'Passes the call to a person. Use it when the caller insists or when you cannot help.',
    parameters: object({ department: { type: 'string' }, reason: { type: 'string' } }, ['reason']),
    backend: {
      state: { do: 'set', at: 'transfer', reply: 'A colleague has been told and will take over: {{ args.reason }}' },
    },
  },
};
