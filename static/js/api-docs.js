// Swagger UI from our own files; the session's CSRF token goes with every request that changes something.
const place = document.getElementById("swagger-ui");

window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  docExpansion: "none",
  deepLinking: true,
  defaultModelsExpandDepth: -1,
  requestInterceptor: (request) => {
    if (request.method && request.method.toUpperCase() !== "GET") {
      request.headers["X-CSRFToken"] = place.dataset.csrf;
    }
    return request;
  },
});
