//! async-openai, as the other programs here: one line of JSON for each check. It names itself by no header, so it gives an
//! organization, by which the service knows a client of OpenAI.
use async_openai::{config::OpenAIConfig, error::OpenAIError, Client};
use futures::StreamExt;
use serde_json::{json, Value};
use std::env::var;

type Checked = Result<(), String>;

fn client(url: &str, key: &str) -> Client<OpenAIConfig> {
    let config = OpenAIConfig::new().with_api_base(format!("{url}/v1")).with_api_key(key).with_org_id("hearth");
    Client::with_config(config)
}

fn hearth() -> Client<OpenAIConfig> {
    client(&var("HEARTH_URL").unwrap(), &var("HEARTH_KEY").unwrap())
}

fn asked(text: &str, over: Value) -> async_openai::types::chat::CreateChatCompletionRequest {
    let mut body = json!({"model": "default", "messages": [{"role": "user", "content": text}], "max_tokens": 200});
    for (name, value) in over.as_object().unwrap() {
        body[name] = value.clone();
    }
    serde_json::from_value(body).unwrap()
}

fn must(is_so: bool, what: &str) -> Checked {
    if is_so { Ok(()) } else { Err(what.to_string()) }
}

async fn content(over: Value) -> Result<String, String> {
    let answer = hearth().chat().create(asked("Hello!", over)).await.map_err(|error| error.to_string())?;
    Ok(answer.choices[0].message.content.clone().unwrap_or_default())
}

async fn chat() -> Checked {
    must(!content(json!({})).await?.is_empty(), "no text")
}

async fn stream() -> Checked {
    let request = asked("Hello!", json!({"stream": true}));
    let mut events = hearth().chat().create_stream(request).await.map_err(|error| error.to_string())?;
    let mut text = String::new();
    while let Some(event) = events.next().await {
        for choice in event.map_err(|error| error.to_string())?.choices {
            text.push_str(choice.delta.content.as_deref().unwrap_or(""));
        }
    }
    must(!text.is_empty(), "no text")
}

async fn tools() -> Checked {
    let parameters = json!({"type": "object", "properties": {"city": {"enum": ["Paris", "Rome"]}}, "required": ["city"]});
    let tool = json!({"type": "function", "function": {"name": "weather", "parameters": parameters}});
    let request = asked("Hello!", json!({"tools": [tool], "tool_choice": "required"}));
    let answer = hearth().chat().create(request).await.map_err(|error| error.to_string())?;
    let said = serde_json::to_value(&answer.choices[0].message.tool_calls).unwrap();
    must(said[0]["function"]["arguments"].as_str().unwrap_or("").contains("city"), "no call")
}

async fn structured() -> Checked {
    let properties = json!({"colour": {"enum": ["red", "green", "blue"]}, "sure": {"type": "boolean"}});
    let schema = json!({"type": "object", "properties": properties, "required": ["colour", "sure"]});
    let format = json!({"type": "json_schema", "json_schema": {"name": "choice", "schema": schema, "strict": true}});
    let text = content(json!({"response_format": format})).await?;
    let choice: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    must(choice["sure"].is_boolean(), "not sure")
}

async fn embeddings() -> Checked {
    let body = json!({"model": "default-embedding", "input": ["one", "two"]});
    let request = serde_json::from_value(body).unwrap();
    let made = hearth().embeddings().create(request).await.map_err(|error| error.to_string())?;
    must(made.data.len() == 2 && made.data[1].embedding.len() == 768, "no vectors of 768 numbers")
}

/// The library keeps the whole error object; its status is not a part of it.
async fn refused(asker: Client<OpenAIConfig>, code: &str, words: &str, text: &str, over: Value) -> Checked {
    match asker.chat().create(asked(text, over)).await {
        Err(OpenAIError::ApiError(error)) => {
            let text = format!("{error:?}");
            must(text.contains(code) && text.to_lowercase().contains(words), &text)
        }
        Err(other) => Err(format!("not an error of the API: {other}")),
        Ok(_) => Err("nothing was refused".to_string()),
    }
}

fn say(name: &str, checked: Checked) {
    let detail = checked.clone().err().map(|text| text.chars().take(300).collect::<String>());
    println!("{}", json!({"check": name, "ok": checked.is_ok(), "detail": detail}));
}

#[tokio::main]
async fn main() {
    println!("{}", json!({"version": env!("ASYNC_OPENAI_VERSION")}));
    let url = var("HEARTH_URL").unwrap();
    say("chat", chat().await);
    say("stream", stream().await);
    say("tools", tools().await);
    say("structured", structured().await);
    say("embeddings", embeddings().await);
    say("404", refused(hearth(), "model_not_found", "nobody", "Hello!", json!({"model": "nobody"})).await);
    say("400", refused(hearth(), "invalid_request", "temperature", "Hello!", json!({"temperature": -1.0})).await);
    say("401", refused(client(&url, "wrong"), "unauthorized", "key", "Hello!", json!({})).await);
    say("overflow", refused(hearth(), "context_length_exceeded", "context size", &"word ".repeat(400_000), json!({})).await);
}
